import type { Kysely, SelectQueryBuilder } from 'kysely';
import { currentPerformScope } from '../action/perform-scope.js';
import type { ModelDescriptor } from '../domain/descriptor.js';
import type { Entity } from '../domain/entity.js';
import { Id, ShardedId } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { parseUuid, type Uuid } from '../domain/uuid.js';
import { ModelNotFoundError } from '../errors.js';
import {
  type CursorScope,
  decodeCursor,
  encodeCursor,
  type Page,
  type PageRequest,
  pageLimit,
} from './page.js';
import { RowCodec } from './row-codec.js';

/** How repositories reach the shards. Implemented by the executor's side and by the test kit. */
export interface RepositoryContext {
  /** All configured shards. */
  readonly shards: readonly ShardIdentifier[];
  /** Where models without a sharded id live. */
  readonly defaultShard: ShardIdentifier;
  /** The stored model with this id. @throws UnknownShardError if the shard is not configured */
  read(model: ModelDescriptor, shard: ShardIdentifier, id: string): Promise<Entity | undefined>;
  /** Read-only queries on one shard. @throws UnknownShardError if the shard is not configured */
  queries<Tables>(shard: ShardIdentifier): Kysely<Tables>;
}

/** What `findAllByIds` found. */
export interface FoundModels<M> {
  /** In the order of the ids asked for, missing ones left out. */
  readonly models: readonly M[];
  /** Ids without a (visible) row, in the order asked for. */
  readonly missing: readonly Uuid[];
}

export interface ReadOptions {
  /** Also show models whose state means deleted. Default false. */
  readonly includeDeleted?: boolean;
}

/** Tables as Kysely sees them, by name. */
type TableName<Tables> = keyof Tables & string;

/**
 * Reads models of one class. An id alone finds its database: the shard is read from its bits. Inside `perform`, reads
 * by id see what the plan has staged. Subclasses add queries of their own.
 *
 * @typeParam M the model class @typeParam Tables the emitted table types
 */
export class Repository<M extends Entity, Tables = Record<string, Record<string, unknown>>> {
  protected readonly context: RepositoryContext;
  protected readonly model: ModelDescriptor<M>;

  constructor(context: RepositoryContext, model: ModelDescriptor<M>) {
    this.context = context;
    this.model = model;
  }

  /**
   * The model with this id.
   *
   * @throws ModelNotFoundError if there is none @throws ValidationError if `id` is no id of this model
   * @throws UnknownShardError if the id names a shard that is not configured
   */
  async getById(id: string | Id<M>, options?: ReadOptions): Promise<M> {
    const found = await this.#find(id, options);
    if (found === undefined) throw new ModelNotFoundError(this.model.name, idText(id));
    return found;
  }

  /** As `getById`, but undefined if there is none. */
  async findById(id: string | Id<M>, options?: ReadOptions): Promise<M | undefined> {
    return this.#find(id, options);
  }

  /** Many models by id, over all shards: one statement per shard. Ids may repeat. */
  async findAllByIds(ids: readonly (string | Id<M>)[], options?: ReadOptions): Promise<FoundModels<M>> {
    const found = await Promise.all(ids.map((id) => this.findById(id, options)));
    const missing = ids.filter((_, index) => found[index] === undefined).map(idText);
    return { models: found.filter((model) => model !== undefined), missing };
  }

  /** Read-only, typed queries on one shard, for subclasses. Anything that writes throws WriteInPerformError. */
  protected queries(shard: ShardIdentifier): Kysely<Tables> {
    return this.context.queries<Tables>(shard);
  }

  /**
   * One page of the models that a query selects, over all shards, ordered by id (that is, by creation time). Each
   * shard is asked for one page at most, and the pages are merged.
   *
   * @param scope the query's filters: a cursor is bound to them @param where adds the conditions
   */
  protected async findPage(
    request: PageRequest,
    scope: CursorScope,
    where: (query: ModelQuery<Tables>) => ModelQuery<Tables>,
  ): Promise<Page<M>> {
    const limit = pageLimit(request);
    const after = decodeCursor(request.cursor, this.model.name, scope, UUID_PATTERN);
    const shards = this.model.sharded ? this.context.shards : [this.context.defaultShard];
    const pages = await Promise.all(shards.map((shard) => this.#pageOfShard(shard, after, limit + 1, where)));
    const merged = pages.flat().sort((a, b) => (a.id.getValue() < b.id.getValue() ? -1 : 1));
    const items = merged.slice(0, limit);
    const last = items.at(-1);
    const next =
      merged.length > limit && last !== undefined
        ? encodeCursor(this.model.name, scope, last.id.getValue())
        : null;
    return { items, next };
  }

  async #pageOfShard(
    shard: ShardIdentifier,
    after: string | undefined,
    limit: number,
    where: (query: ModelQuery<Tables>) => ModelQuery<Tables>,
  ): Promise<readonly M[]> {
    const codec = RowCodec.of(this.model);
    const { deletedStates = [] } = this.model;
    const db = this.queries(shard) as unknown as Kysely<Record<string, Record<string, unknown>>>;
    let query = db
      .selectFrom(this.model.table)
      .select(codec.columns.map(({ descriptor }) => descriptor.column))
      .orderBy('id')
      .limit(limit);
    if (after !== undefined) query = query.where('id', '>', after);
    if (deletedStates.length > 0) query = query.where('state', 'not in', deletedStates);
    const rows = await (where(query as unknown as ModelQuery<Tables>) as unknown as typeof query).execute();
    return rows.map((row) => codec.decode(codec.columns.map(({ descriptor }) => row[descriptor.column])));
  }

  /** Staged states come first: this plan's own, then those of other actions of this process. */
  #find(id: string | Id<M>, options: ReadOptions | undefined): Promise<M | undefined> | M | undefined {
    const uuid = idText(id);
    const shard = this.#shardOf(uuid);
    const scope = currentPerformScope();
    const staged =
      scope?.plan.staged(this.model.name, uuid)?.model ?? scope?.stagedElsewhere?.(this.model.name, uuid);
    if (staged !== undefined) return this.#ifVisible(staged as M, options);
    return this.#read(shard, uuid, options);
  }

  async #read(shard: ShardIdentifier, uuid: Uuid, options: ReadOptions | undefined): Promise<M | undefined> {
    const model = (await this.context.read(this.model, shard, uuid)) as M | undefined;
    return model === undefined ? undefined : this.#ifVisible(model, options);
  }

  #shardOf(uuid: Uuid): ShardIdentifier {
    if (!this.model.sharded) return this.context.defaultShard;
    return ShardedId.named(this.model.name, uuid).resolveShardIdentifier();
  }

  #ifVisible(model: M, options: ReadOptions | undefined): M | undefined {
    const hidden =
      options?.includeDeleted !== true && this.model.deletedStates?.includes(model.state) === true;
    return hidden ? undefined : model;
  }
}

/** A query over one model's table, to which conditions may be added. */
export type ModelQuery<Tables> = SelectQueryBuilder<
  Tables,
  TableName<Tables>,
  Partial<Tables[TableName<Tables>]>
>;

const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function idText<M>(id: string | Id<M>): Uuid {
  return id instanceof Id ? id.getValue() : parseUuid(id);
}
