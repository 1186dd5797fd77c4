import type { Kysely } from 'kysely';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ValidationError } from '../../errors.js';
import {
  type AnyQuery,
  type AnyTables,
  conditionsText,
  type ListedModel,
  readListPart,
} from './list-statement.js';
import {
  type CursorScope,
  decodeKeyCursor,
  encodeKeyCursor,
  type Page,
  type PageRequest,
  pageLimit,
} from './page.js';
import { onShard, type ShardFailure, scatter, shardTimeoutMs } from './scatter.js';
import { type SortKey, SortOrder, type SortTerm } from './sort-order.js';

/** The content, order and start of a list. */
export interface ListSettings<M extends Entity> {
  readonly model: ModelDescriptor<M>;
  readonly shards: readonly ShardIdentifier[];
  readonly orderBy: readonly SortTerm<M>[] | undefined;
  readonly where: (query: AnyQuery) => AnyQuery;
  /** What a cursor is bound to: given filters, or the list's conditions without those added for the caller. */
  readonly boundTo: CursorScope | ((query: AnyQuery) => AnyQuery);
  readonly includeDeleted: boolean;
  /** Called for each model of the list. Undefined: not called. */
  readonly seen: ((model: M) => void) | undefined;
  /** Time limit of each shard's query for one page, in milliseconds. */
  readonly timeoutMs: number | undefined;
  /** Read-only queries on one shard, with a time limit in milliseconds for each. */
  readonly queries: (shard: ShardIdentifier, timeoutMs: number) => Kysely<AnyTables>;
}

/** A page from which the models of some shards may be missing. */
export interface PartialPage<T> extends Page<T> {
  /** Shards whose models are missing from this page. Empty: the page is complete. */
  readonly failures: readonly ShardFailure[];
}

/** Maximum number of models that `findMany` returns. */
const MAXIMUM_LIST_LIMIT = 1_000;

/** Merges the models of many shards into one list. It holds at most one page of each shard at any time. */
export class ListReader<M extends Entity> {
  readonly #settings: ListSettings<M>;
  readonly #order: SortOrder;

  /** @throws ValidationError for an impossible order */
  constructor(settings: ListSettings<M>) {
    this.#settings = settings;
    this.#order = SortOrder.of(settings.model, settings.orderBy);
  }

  /** @throws ValidationError for an invalid limit or cursor, and the error of the first shard that does not answer */
  async page(request: PageRequest): Promise<Page<M>> {
    const { items, next, failures } = await this.partialPage(request);
    const [failure] = failures;
    if (failure !== undefined) throw failure.error;
    return { items, next };
  }

  /** @throws ValidationError for an invalid limit or cursor, and the shard's error if no shard answers */
  async partialPage(request: PageRequest): Promise<PartialPage<M>> {
    const { model, shards, timeoutMs, includeDeleted } = this.#settings;
    const limit = pageLimit(request);
    const list = `${model.name} by ${this.#order.name}${includeDeleted ? ' with deleted' : ''}`;
    const shardMs = shardTimeoutMs(timeoutMs);
    const filters = request.cursor === undefined ? undefined : this.#filters(shardMs);
    const after = filters && decodeKeyCursor(request.cursor, list, filters, this.#order);
    // One row more than the limit shows whether there is another page.
    const { listed, failures } = await this.#merged(limit + 1, shardMs, after);
    const [failure] = failures;
    if (failure !== undefined && failures.length === shards.length) throw failure.error;
    const page = listed.slice(0, limit);
    const last = listed.length > limit ? page.at(-1) : undefined;
    const next = last && encodeKeyCursor(list, filters ?? this.#filters(shardMs), last.key);
    return { items: this.#shown(page), next: next ?? null, failures };
  }

  #filters(timeoutMs: number): CursorScope {
    const { model, shards, boundTo, queries } = this.#settings;
    const [shard] = shards;
    if (typeof boundTo !== 'function') return boundTo;
    return shard === undefined ? {} : { where: conditionsText(queries(shard, timeoutMs), model, boundTo) };
  }

  /** The first models of the list, at most `limit`. @throws ValidationError unless `limit` is 1 to 1,000 */
  async first(limit: number): Promise<readonly M[]> {
    if (!Number.isInteger(limit) || limit < 1 || limit > MAXIMUM_LIST_LIMIT) {
      throw new ValidationError(
        `A list needs a limit from 1 to ${MAXIMUM_LIST_LIMIT}; page through longer lists, or stream them`,
        { field: 'limit' },
      );
    }
    const { listed, failures } = await this.#merged(limit, shardTimeoutMs(this.#settings.timeoutMs));
    const [failure] = failures;
    if (failure !== undefined) throw failure.error;
    return this.#shown(listed);
  }

  /** The first models after a key, at most `limit`, in the order of the list. */
  async #merged(limit: number, timeoutMs: number, after?: SortKey) {
    const read = (shard: ShardIdentifier) => this.#part(shard, after, limit, timeoutMs);
    const { items, failures } = await scatter(this.#settings.shards, timeoutMs, read);
    return { listed: this.#sorted(items).slice(0, limit), failures };
  }

  #shown(listed: readonly ListedModel<M>[]): readonly M[] {
    for (const { model } of listed) this.#settings.seen?.(model);
    return listed.map(({ model }) => model);
  }

  /** All models, one page of each shard in memory at a time. */
  async *stream(pageSize: number): AsyncGenerator<M, void, undefined> {
    const feeds = this.#settings.shards.map((shard) => new ShardFeed<M>(shard));
    for (;;) {
      await Promise.all(feeds.map((feed) => this.#refill(feed, pageSize)));
      const bound = this.#bound(feeds);
      const ready = feeds.flatMap((feed) => feed.takeThrough(bound, this.#order));
      if (ready.length === 0) return;
      for (const { model } of this.#sorted(ready)) {
        this.#settings.seen?.(model);
        yield model;
      }
    }
  }

  /**
   * The last sort key up to which the merged list is complete: a shard may hold more rows after its last one.
   * Undefined: to the end.
   */
  #bound(feeds: readonly ShardFeed<M>[]): SortKey | undefined {
    const ends = feeds.flatMap((feed) => (feed.ended || feed.position === undefined ? [] : [feed.position]));
    return ends.sort((left, right) => this.#order.compare(left, right))[0];
  }

  async #refill(feed: ShardFeed<M>, pageSize: number): Promise<void> {
    if (feed.ended || !feed.empty) return;
    const timeoutMs = shardTimeoutMs(this.#settings.timeoutMs);
    const read = (shard: ShardIdentifier) => this.#part(shard, feed.position, pageSize, timeoutMs);
    feed.add(await onShard(feed.shard, timeoutMs, read), pageSize);
  }

  #part(
    shard: ShardIdentifier,
    after: SortKey | undefined,
    limit: number,
    timeoutMs: number,
  ): Promise<readonly ListedModel<M>[]> {
    const { model, where, includeDeleted, queries } = this.#settings;
    const part = { model, order: this.#order, where, includeDeleted, after, limit };
    return readListPart(queries(shard, timeoutMs), part);
  }

  #sorted(items: readonly ListedModel<M>[]): readonly ListedModel<M>[] {
    return [...items].sort((left, right) => this.#order.compare(left.key, right.key));
  }
}

/** Rows of one shard that were read but not yet merged. */
class ShardFeed<M> {
  readonly shard: ShardIdentifier;
  /** Key of the last row that the shard gave. */
  position: SortKey | undefined;
  /** Whether the shard has no more rows. */
  ended = false;
  #rows: readonly ListedModel<M>[] = [];

  constructor(shard: ShardIdentifier) {
    this.shard = shard;
  }

  get empty(): boolean {
    return this.#rows.length === 0;
  }

  add(rows: readonly ListedModel<M>[], pageSize: number): void {
    this.#rows = rows;
    this.position = rows.at(-1)?.key ?? this.position;
    this.ended = rows.length < pageSize;
  }

  /** Removes and returns the rows up to and including this key. */
  takeThrough(bound: SortKey | undefined, order: SortOrder): readonly ListedModel<M>[] {
    const beyond =
      bound === undefined ? -1 : this.#rows.findIndex(({ key }) => order.compare(key, bound) > 0);
    const taken = beyond < 0 ? this.#rows : this.#rows.slice(0, beyond);
    this.#rows = this.#rows.slice(taken.length);
    return taken;
  }
}
