import type { Kysely, SelectQueryBuilder } from 'kysely';
import { currentPerformScope } from '../../action/perform-scope.js';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { Id, ShardedId } from '../../domain/id.js';
import { heldKeys, type KeyLookup, type modelKeys } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { nameClass } from '../../domain/stored-names.js';
import { parseUuid, type Uuid } from '../../domain/uuid.js';
import { ModelNotFoundError, PlanMisuseError } from '../../errors.js';
import { lookupBySameKey, lookupByValues } from './key-lookup.js';
import { ListReader, type PartialPage } from './list-reader.js';
import type { AnyQuery, AnyTables } from './list-statement.js';
import { type CursorScope, MAXIMUM_PAGE_LIMIT, type Page, type PageRequest, pageLimit } from './page.js';
import type { QueryOptions } from './query-options.js';
import { type ScatterResult, scatter, shardTimeoutMs } from './scatter.js';
import type { SortTerm } from './sort-order.js';
import { visibleOnly } from './visible-only.js';

/** Access of repositories to the shards. The executor and the test kit implement it. */
export interface RepositoryContext {
  /** All configured shards. */
  readonly shards: readonly ShardIdentifier[];
  /** The shard of models without a sharded id. */
  readonly defaultShard: ShardIdentifier;
  /** The stored model with this id. @throws UnknownShardError if the shard is not configured */
  read(model: ModelDescriptor, shard: ShardIdentifier, id: string): Promise<Entity | undefined>;
  /** The stored model that holds a natural key. @throws UnknownShardError if the shard is not configured */
  readByKey(lookup: KeyLookup): Promise<Entity | undefined>;
  /** Read-only queries on one shard. @throws UnknownShardError if the shard is not configured */
  queries<Tables>(shard: ShardIdentifier, options?: QueryOptions): Kysely<Tables>;
}

/** Fewer than the reads that may wait for one shard. */
const IDS_AT_ONCE = 2_000;

/** Result of `findAllByIds`. */
export interface FoundModels<M> {
  /** In the order of the requested ids, without the missing ones. */
  readonly models: readonly M[];
  /** Ids without a (visible) row, in the requested order. */
  readonly missing: readonly Uuid[];
}

/** Options of a read by id. */
interface ReadOptions {
  /** Also return models in a deleted state. Default false. */
  readonly includeDeleted?: boolean;
}

/** Fields and values of one of a model's natural keys; `never` for a model without a natural key. */
type KeyOf<M> = typeof modelKeys extends keyof M ? NonNullable<M[typeof modelKeys]> : never;

/** The additional argument of a look-up by key: the shard, for a model with sharded ids. */
type KeyPlace<M> = M extends { readonly id: { resolveShardIdentifier(): ShardIdentifier } }
  ? [shard: ShardIdentifier]
  : [];

/**
 * Reads models of one class. An id alone determines its shard, which is encoded in the id's bits. Inside `perform`,
 * reads by id see the changes that the plan has staged. Subclasses add their own queries.
 *
 * @typeParam M the model class
 * @typeParam Tables the emitted table types
 */
export class Repository<M extends Entity, Tables = Record<string, Record<string, unknown>>> {
  protected readonly context: RepositoryContext;
  protected readonly model: ModelDescriptor<M>;

  constructor(context: RepositoryContext, model: ModelDescriptor<M>) {
    this.context = context;
    this.model = model;
    nameClass(model.modelClass(), model.name);
  }

  /**
   * The model with this id.
   *
   * @throws ModelNotFoundError if there is none @throws ValidationError if `id` is not an id of this model
   * @throws UnknownShardError if the id names a shard that is not configured
   */
  async getById(id: string | Id<M>, options?: ReadOptions): Promise<M> {
    const found = this.#find(id);
    const model = ifVisible(this.model, found instanceof Promise ? await found : found, options);
    if (model === undefined) throw new ModelNotFoundError(this.model.name, idText(id));
    return model;
  }

  /** As `getById`, but undefined if there is none. */
  async findById(id: string | Id<M>, options?: ReadOptions): Promise<M | undefined> {
    const found = this.#find(id);
    return ifVisible(this.model, found instanceof Promise ? await found : found, options);
  }

  /** The models with these ids, over all shards, with one statement per shard for up to 256 ids. Ids may repeat. */
  async findAllByIds(ids: readonly (string | Id<M>)[], options?: ReadOptions): Promise<FoundModels<M>> {
    const found: (M | undefined)[] = [];
    for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
      const part = ids.slice(from, from + IDS_AT_ONCE);
      found.push(...(await Promise.all(part.map((id) => this.findById(id, options)))));
    }
    const missing = ids.filter((_, index) => found[index] === undefined).map(idText);
    return { models: found.filter((model) => model !== undefined), missing };
  }

  /**
   * The model with this natural key (`@Key`) that is not in a deleted state.
   *
   * @param key all fields of one key, by name
   * @param place for models with a sharded id: the shard to search. Keys are unique per shard.
   * @throws ModelNotFoundError if there is none @throws ValidationError for a value that does not fit its column
   * @throws PlanMisuseError if the fields are not those of a key
   */
  async getByKey(key: KeyOf<M>, ...place: KeyPlace<M>): Promise<M> {
    const found = await this.findByKey(key, ...place);
    if (found === undefined) throw new ModelNotFoundError(this.model.name, keyForPeople(key));
    return found;
  }

  /** As `getByKey`, but undefined if there is none. */
  async findByKey(key: KeyOf<M>, ...place: KeyPlace<M>): Promise<M | undefined> {
    const [shard] = place as readonly (ShardIdentifier | undefined)[];
    if (this.model.sharded && shard === undefined) {
      throw new PlanMisuseError(`Pass the shard: a key of ${this.model.name} is unique on its shard only`);
    }
    const lookup = lookupByValues(this.model, shard ?? this.context.defaultShard, key);
    return (await this.#holder(lookup)) as M | undefined;
  }

  /**
   * The model that holds the same natural key as this model, on the shard of this model's id. If the class has several
   * keys: the one without a name, else the first.
   *
   * @throws PlanMisuseError if the model has no natural key
   */
  async findSameKey(model: M): Promise<M | undefined> {
    return (await this.#holder(lookupBySameKey(this.model, model, this.context.defaultShard))) as
      | M
      | undefined;
  }

  /** Read-only, typed queries on one shard, for subclasses. A query that writes throws WriteInPerformError. */
  protected queries(shard: ShardIdentifier, options?: QueryOptions): Kysely<Tables> {
    if (this.model.sharded) currentPerformScope()?.reach?.require(shard);
    return this.context.queries<Tables>(shard, options);
  }

  /**
   * Runs a query on every shard in parallel, each with its own deadline. Failed shards are listed next to the results
   * of the others.
   *
   * @param query called with read-only queries on one shard
   */
  protected scatter<T>(
    query: (db: Kysely<Tables>, shard: ShardIdentifier) => Promise<readonly T[]>,
    options: QueryOptions = {},
  ): Promise<ScatterResult<T>> {
    const timeoutMs = shardTimeoutMs(options.timeoutMs);
    const ask = (shard: ShardIdentifier) => query(this.queries(shard, { ...options, timeoutMs }), shard);
    return scatter(this.#shards, timeoutMs, ask);
  }

  /**
   * One page of a list over all shards. Each shard returns at most one page, and the pages are merged in the order of
   * the list. Paging neither skips nor repeats a model that existed when the first page was read and kept its sort key.
   *
   * @throws ValidationError for an invalid limit, cursor or order
   * @throws ShardUnavailableError, DeadlineExceededError or another error of a shard that does not answer
   */
  protected async findPage(request: PageRequest, list: PagedList<M, Tables> = {}): Promise<Page<M>> {
    return this.#list(list, list.filters).page(request);
  }

  /**
   * As `findPage`, but the page names a shard that does not answer instead of throwing. That shard's models between the
   * first and the last model of this page are missing, and the next page does not return them.
   *
   * @throws the shard's error if no shard answers
   */
  protected async findPartialPage(
    request: PageRequest,
    list: PagedList<M, Tables> = {},
  ): Promise<PartialPage<M>> {
    return this.#list(list, list.filters).partialPage(request);
  }

  /**
   * The first models of a list over all shards, at most `limit`.
   *
   * @throws ValidationError unless `limit` is 1 to 1,000; page through or stream a longer list
   */
  protected async findMany(list: LimitedList<M, Tables>): Promise<readonly M[]> {
    return this.#list(list).first(list.limit);
  }

  /**
   * All models of a list over all shards, one by one and in order. There is no snapshot: each shard is read in pages,
   * and a model that is inserted meanwhile appears if the stream has not passed its sort key. The caller may stop at
   * any time; the stream holds no connection between pages.
   *
   * @throws ValidationError for an invalid order, and the error of a shard that does not answer
   */
  protected stream(list: StreamedList<M, Tables>): AsyncGenerator<M, void, undefined> {
    return this.#list(list).stream(pageLimit({ limit: list.pageSize ?? MAXIMUM_PAGE_LIMIT }));
  }

  /** The shards that hold models of this class and that the running action's principal may read. */
  get #shards(): readonly ShardIdentifier[] {
    if (!this.model.sharded) return [this.context.defaultShard];
    const reach = currentPerformScope()?.reach;
    const { shards } = this.context;
    return reach === undefined ? shards : shards.filter((shard) => reach.allows(shard));
  }

  #list(list: ModelList<M, Tables>, filters?: CursorScope): ListReader<M> {
    const { orderBy, timeoutMs, replica } = list;
    // The emitted table types describe the database; no value at run time carries them.
    const where = list.where as unknown as ((query: AnyQuery) => AnyQuery) | undefined;
    const access = currentPerformScope()?.access;
    return new ListReader<M>({
      model: this.model,
      shards: this.#shards,
      orderBy,
      where: visibleOnly(this.model, where, access),
      boundTo: filters ?? where ?? ((query) => query),
      seen: access === undefined ? undefined : (model) => access.see(model),
      includeDeleted: list.includeDeleted === true,
      timeoutMs,
      queries: (shard, limitMs) => this.context.queries<AnyTables>(shard, { replica, timeoutMs: limitMs }),
    });
  }

  /** Staged states take precedence: first this plan's own, then those of other actions of this process. */
  #find(id: string | Id<M>): Promise<Entity | undefined> | Entity | undefined {
    const uuid = idText(id);
    const { name, sharded } = this.model;
    const shard = sharded ? ShardedId.named(name, uuid).resolveShardIdentifier() : this.context.defaultShard;
    const scope = currentPerformScope();
    if (sharded) scope?.reach?.require(shard);
    const own = scope?.plan.staged(name, uuid)?.model;
    if (own !== undefined) return own;
    scope?.access?.ask(name);
    const load = (): Promise<Entity | undefined> => this.context.read(this.model, shard, uuid);
    const found =
      scope?.reads === undefined ? load() : scope.reads.read({ model: this.model, id: uuid, shard }, load);
    return scope?.access === undefined ? found : shownTo(scope.access, found);
  }

  /**
   * Checks the plan's own states first, and again after the read: the found model may hold another key in this plan.
   */
  async #holder(lookup: KeyLookup): Promise<Entity | undefined> {
    const scope = currentPerformScope();
    if (this.model.sharded) scope?.reach?.require(lookup.shard);
    const load = (): Promise<Entity | undefined> => this.context.readByKey(lookup);
    if (scope === undefined) return load();
    const { plan } = scope;
    const own = plan.keyed?.holderOf(lookup.name);
    if (own !== undefined) return own;
    scope.access?.ask(this.model.name);
    const found = await (scope.reads === undefined ? load() : scope.reads.readByKey(lookup, load));
    if (found !== undefined) scope.access?.see(found);
    const latest = found && (plan.staged(this.model.name, found.id.getValue())?.model ?? found);
    if (latest !== undefined && heldKeys(latest).includes(lookup.name)) return latest;
    return plan.keyed?.holderOf(lookup.name);
  }
}

/** A query over one model's table, to which a list adds conditions. */
export type ModelQuery<Tables> = SelectQueryBuilder<
  Tables,
  keyof Tables & string,
  Partial<Tables[keyof Tables & string]>
>;

/** A list of models. */
interface ModelList<M, Tables> extends ReadOptions, QueryOptions {
  /** Adds conditions. Default: all models. */
  readonly where?: (query: ModelQuery<Tables>) => ModelQuery<Tables>;
  /** Sort order. Default: by id, that is, by creation time. The id is always added as the last term. */
  readonly orderBy?: readonly SortTerm<M>[];
}

/** A list that is read page by page. */
export interface PagedList<M, Tables> extends ModelList<M, Tables> {
  /**
   * A cursor is valid only for the list with the same filters. Default: the conditions of `where` with their values.
   * Give them if those change from page to page, such as the present time.
   */
  readonly filters?: CursorScope;
}

/** A list with a maximum length. */
export interface LimitedList<M, Tables> extends ModelList<M, Tables> {
  /** Maximum models, 1..1,000. */
  readonly limit: number;
}

/** A list that is streamed to its end. */
export interface StreamedList<M, Tables> extends ModelList<M, Tables> {
  /** Models per query on a shard, 1..200. Default 200. */
  readonly pageSize?: number;
}

function ifVisible<M extends Entity>(
  { deletedStates }: ModelDescriptor<M>,
  model: Entity | undefined,
  options: ReadOptions | undefined,
): M | undefined {
  if (model === undefined) return undefined;
  const hidden = options?.includeDeleted !== true && deletedStates?.includes(model.state) === true;
  return hidden ? undefined : (model as M);
}

/** A model that was read is reported to the action's access rule, even if its state hides it. */
function shownTo(
  access: { see(model: Entity): void },
  found: Promise<Entity | undefined> | Entity | undefined,
): Promise<Entity | undefined> | Entity | undefined {
  if (found instanceof Promise) return found.then((model) => shownTo(access, model));
  if (found !== undefined) access.see(found);
  return found;
}

function idText<M>(id: string | Id<M>): Uuid {
  return id instanceof Id ? id.getValue() : parseUuid(id);
}

function keyForPeople(key: Readonly<Record<string, unknown>>): string {
  return `with ${Object.entries(key)
    .map(([field, value]) => `${field} ${String(value)}`)
    .join(', ')}`;
}
