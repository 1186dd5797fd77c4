import { randomBytes } from 'node:crypto';
import { type Id, ShardedId } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { UnknownHandlerError, ValidationError } from '../errors.js';
import { readCompleteFrom } from '../retention/complete-from.js';
import { TURN_OF_REPLAYS } from '../retention/needs.js';
import { withShortLock } from '../retention/short-transaction.js';
import { callShard } from '../sharding/public-error.js';
import type { ShardDatabase, Statement } from '../sharding/shard-database.js';
import { TransactionManager } from '../sharding/transaction-manager.js';
import type { ReplayOrder } from './delivery/consumer-store.js';
import type { OperatedShards } from './delivery/operated-shards.js';
import { rebuildSchema } from './delivery/rebuild.js';
import * as column from './log/columns.js';
import { isSamePlace, type LogCursor, START_OF_LOG, toCursor } from './log/event-record.js';

/** The start of a replay. It ends at the handler's current checkpoint. */
export type ReplayFrom =
  | { readonly time: Date }
  /** A value of the column `position` of one shard's outbox. */
  | { readonly position: number }
  /** All events of one model. */
  | { readonly model: Id<unknown> };

/** How a replay runs. */
export interface ReplayOptions {
  /**
   * Also repeat the actions that the handler starts, once per replay. Default: they return their first results. A
   * transactional handler requires it, because every one of its writes is applied a second time.
   */
  readonly again?: boolean;
}

/** A created replay. */
export interface OrderedReplay {
  readonly shard: ShardIdentifier;
  /** Name of its consumer in `lag()` while it runs. */
  readonly name: string;
}

/** How far a rebuild is. */
export interface RebuildProgress {
  readonly shard: ShardIdentifier;
  /** Name of its consumer: that of its dead letters. */
  readonly name: string;
  /** Position in the log that it has reached. */
  readonly position: number;
  /** Position of the last event. */
  readonly end: number;
  /** Why it does not go on; undefined if it does. */
  readonly waitingFor: string | undefined;
}

/** A handler that has a checkpoint on a shard. */
interface ReplayableHandler {
  readonly database: ShardDatabase;
  readonly handler: string;
  /** Its original name. */
  readonly identity: string;
  readonly checkpoint: LogCursor;
  /** Whether its writes are part of the transaction that moves its checkpoint. */
  readonly transactional: boolean;
}

/** Replays and rebuilds: separate consumers beside those of their handlers, stored in the database like them. */
export class Replays {
  readonly #shards: OperatedShards;

  constructor(shards: OperatedShards) {
    this.#shards = shards;
  }

  /** As `EventOperations.replay`. */
  async replay(
    handler: string,
    from: ReplayFrom,
    { shard, again = false }: ReplayOptions & { readonly shard?: ShardIdentifier },
  ): Promise<readonly OrderedReplay[]> {
    checkReplayFrom(from);
    const place = shard ?? shardOf(from);
    if ('position' in from && this.#shards.databases(place).length > 1)
      throw new ValidationError('A position is valid on one shard only: pass the shard', { field: 'shard' });
    // Queries all shards before it creates the first replay.
    const known = await this.#replayable(handler, place);
    if (!again && known.some(({ transactional }) => transactional))
      throw new ValidationError(
        `${handler} is transactional: a replay applies each of its writes a second time. Rebuild its projection instead, ` +
          'or undo the writes first, and pass again: true (--again)',
        { field: 'again' },
      );
    const events = await Promise.all(known.map((each) => hasHandled(each, from)));
    return this.#order(
      known.filter((_, index) => events[index]),
      ({ identity, checkpoint }, number) => ({
        identity,
        again: again ? `again-${number}` : undefined,
        selection: { ...selectionOf(from), until: checkpoint },
      }),
    );
  }

  /** As `EventOperations.rebuild`: a replay without an end, which replaces the projection once it has caught up. */
  async rebuild(handler: string, shard?: ShardIdentifier): Promise<readonly OrderedReplay[]> {
    const known = await this.#replayable(handler, shard);
    // Checks all shards before it creates the first rebuild.
    await Promise.all(known.map(checkRebuild));
    // Only once it is ordered does retention keep the events.
    return this.#order(
      known,
      ({ identity }) => ({ identity, rebuild: true, selection: {} }),
      requireComplete,
    );
  }

  /** As `EventOperations.rebuilds`: at most one on each shard is under way. */
  rebuilds(
    handler: string,
    shard: ShardIdentifier | undefined,
    finished: boolean,
  ): Promise<readonly RebuildProgress[]> {
    return this.#shards.read(shard, { text: finished ? FINISHED : PROGRESS, values: [handler] }, REBUILD);
  }

  /** Ends the rebuilds of a handler that are under way. @returns their number */
  async abandonRebuild(handler: string, shard?: ShardIdentifier): Promise<number> {
    const ended = await this.#shards.ask(shard, (database) => takeAway(database, IS_REBUILD, handler));
    return ended.reduce((sum, number) => sum + number, 0);
  }

  /** The handler where it has run. @throws UnknownHandlerError if that is on none of these shards */
  async #replayable(handler: string, shard?: ShardIdentifier): Promise<readonly ReplayableHandler[]> {
    const known = await this.#shards.ask(shard, async (database) => {
      const { rows } = await database.query({ text: HANDLER, values: [handler] });
      return rows.map(([identity, transactional, ...cursor]) => ({
        database,
        handler,
        identity: String(identity),
        checkpoint: toCursor(cursor),
        transactional: transactional === true,
      }));
    });
    if (known.flat().length > 0) return known.flat();
    const place = known.length === 1 ? `shard ${this.#shards.databases(shard)[0]?.shard}` : 'any shard';
    throw new UnknownHandlerError(`${handler} has no checkpoint on ${place}`);
  }

  /** Orders a replay of each handler, or none. @param confirm called after each order */
  async #order(
    handlers: readonly ReplayableHandler[],
    orderOf: (handler: ReplayableHandler, number: string) => ReplayOrder,
    confirm: (handler: ReplayableHandler) => Promise<void> = async () => {},
  ): Promise<readonly OrderedReplay[]> {
    const orders = handlers.map((known) => {
      const number = randomBytes(4).toString('hex');
      return { known, name: `${known.handler}#${number}`, order: orderOf(known, number) };
    });
    const results = await Promise.allSettled(
      orders.map(async ({ known, name, order }) => {
        await orderReplay(known, name, order);
        await confirm(known);
      }),
    );
    const failure = results.find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') {
      // Also those of which it is not known whether they were ordered.
      await Promise.allSettled(orders.map(({ known, name }) => takeAway(known.database, 'name = $1', name)));
      throw failure.reason;
    }
    this.#shards.changed();
    return orders.map(({ known, name }) => ({ shard: known.database.shard, name }));
  }
}

/** @throws ValidationError if the handler of this name has another rebuild */
async function orderReplay(
  { database, handler }: ReplayableHandler,
  name: string,
  order: ReplayOrder,
): Promise<void> {
  const ordered = await callShard(database.shard, () =>
    new TransactionManager(database).transaction(
      async (transaction) => {
        // Of all that are ordered at once, the next one must see the first.
        await transaction.query({ text: `SELECT ${TURN_OF_REPLAYS}`, values: [] });
        return transaction.query({ text: ORDER, values: [handler, name, JSON.stringify(order)] });
      },
      { isolationLevel: 'read committed' },
    ),
  );
  if (ordered.rowCount === 0)
    throw new ValidationError(
      `A rebuild of ${handler} on shard ${database.shard} is under way: see fw-gen events rebuild ${handler} --follow`,
    );
}

/** Ends replays. @param which a condition with one value @returns their number */
async function takeAway(database: ShardDatabase, which: string, value: string): Promise<number> {
  const { rows } = await database.query({
    text: `${TAKE_AWAY} WHERE ${which} RETURNING name`,
    values: [value],
  });
  // A handler that is running keeps the tables locked until it returns. If that takes too long, the call can be repeated.
  for (const [name] of rows)
    await withShortLock(database, async (query) => {
      await query(`DROP SCHEMA IF EXISTS ${rebuildSchema(String(name))} CASCADE`);
      await query('DELETE FROM eventlog.consumers WHERE name = $1', [name]);
    });
  return rows.length;
}

/** @throws ValidationError if the handler cannot be rebuilt */
async function checkRebuild(known: ReplayableHandler): Promise<void> {
  if (known.transactional) return requireComplete(known);
  throw new ValidationError(
    `${known.handler} is not transactional: only its declared projection can be rebuilt`,
  );
}

/** @throws ValidationError if retention has deleted events of the shard */
async function requireComplete({ database }: ReplayableHandler): Promise<void> {
  const completeFrom = await callShard(database.shard, () => readCompleteFrom(database));
  if (completeFrom === undefined) return;
  throw new ValidationError(
    `Events of shard ${database.shard} before ${completeFrom.toISOString()} have been deleted by retention: a rebuild ` +
      'needs all',
  );
}

/** The database reads no other dates in the form that JavaScript writes: a replay from such a date would fail for ever. */
const FIRST_DATE = new Date('0001-01-01T00:00:00Z');
const LAST_DATE = new Date('9999-12-31T23:59:59Z');

/** The shard of a replayed model. */
function shardOf(from: ReplayFrom): ShardIdentifier | undefined {
  return 'model' in from && from.model instanceof ShardedId ? from.model.resolveShardIdentifier() : undefined;
}

/** @throws ValidationError for an invalid date or position */
function checkReplayFrom(from: ReplayFrom): void {
  if ('time' in from && !(from.time >= FIRST_DATE && from.time <= LAST_DATE)) {
    throw new ValidationError('A replay needs a valid start date of the years 1 to 9999', { field: 'time' });
  }
  if ('position' in from && !(Number.isSafeInteger(from.position) && from.position >= 0)) {
    throw new ValidationError('A position is an integer of at least 0', { field: 'position' });
  }
}

/**
 * Whether the handler has passed events, and the log may have some from there on: the start is not in the future or
 * beyond the end, or the model has events. They may all be of kinds that the handler does not handle.
 */
async function hasHandled({ database, checkpoint }: ReplayableHandler, from: ReplayFrom): Promise<boolean> {
  if (isSamePlace(checkpoint, START_OF_LOG)) return false;
  const statement =
    'position' in from ? reaches(from.position) : 'time' in from ? isPast(from.time) : has(from.model);
  return (await callShard(database.shard, () => database.query(statement))).rowCount > 0;
}

/** Position of the last event. It may not have the last id: processes make ids by their own clocks. */
const END =
  '(SELECT max(position) FROM (SELECT position FROM eventlog.events ORDER BY id DESC LIMIT 1000) AS newest)';

const reaches = (position: number): Statement => ({
  text: `SELECT WHERE $1::bigint <= ${END}`,
  values: [position],
});
const isPast = (time: Date): Statement => ({
  text: 'SELECT WHERE $1::timestamptz <= clock_timestamp()',
  values: [time.toISOString()],
});
const has = (id: Id<unknown>): Statement => ({
  text: 'SELECT FROM eventlog.events WHERE model_name = $1 AND model_id = $2 LIMIT 1',
  values: [id.modelName, id.getValue()],
});

function selectionOf(from: ReplayFrom): Omit<ReplayOrder['selection'], 'until'> {
  if ('time' in from) return { fromDate: from.time.toISOString() };
  if ('position' in from) return { fromPosition: from.position };
  return { model: { name: from.model.modelName, id: from.model.getValue() } };
}

const HANDLER =
  "SELECT identity, 'transactional' = ANY (selects), epoch, transaction_id, position FROM eventlog.consumers " +
  "WHERE name = $1 AND kind = 'live'";

const REBUILT = `handler = $1 AND kind = 'replay' AND replay @> '{"rebuild": true}'`;
const IS_REBUILD = `${REBUILT} AND finished_date IS NULL`;

const REBUILD: column.Columns<Omit<RebuildProgress, 'shard'>> = {
  name: column.text('name'),
  position: column.numeric('position'),
  end: column.numeric(`greatest(position, ${END})`),
  waitingFor: column.optional(
    column.text(`coalesce('halted: ' || halted, waiting_for, (SELECT 'dead letters' FROM eventlog.dead_letters AS d
      WHERE d.consumer = c.name AND state <> 'discarded' LIMIT 1),
      CASE WHEN finished_date IS NULL AND coalesce(leased_until < clock_timestamp(), true) THEN 'a process that runs the handler' END)`),
  ),
};

const FOUND = `SELECT ${column.list(REBUILD)} FROM eventlog.consumers AS c WHERE`;
const PROGRESS = `${FOUND} ${IS_REBUILD}`;
const FINISHED = `${FOUND} ${REBUILT} AND finished_date IS NOT NULL`;

/** A process that holds the lease can no longer commit, and none takes it. The row's dead letters go with the row. */
const TAKE_AWAY =
  "UPDATE eventlog.consumers SET holder = NULL, leased_until = NULL, halted = 'it was abandoned'";

const ORDER = `INSERT INTO eventlog.consumers (name, handler, kind, identity, epoch, transaction_id, position, replay)
SELECT $2, $1, 'replay', $2, 1, '0', 0, o FROM (SELECT $3::jsonb AS o) AS n
WHERE NOT (o @> '{"rebuild": true}' AND EXISTS (SELECT FROM eventlog.consumers WHERE ${IS_REBUILD}))`;
