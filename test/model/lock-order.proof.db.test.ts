import { expect, test } from 'vitest';
import type { StagedItem } from '../../runtime/action/action-plan.js';
import type { ModelDescriptor } from '../../runtime/domain/entity.js';
import { ShardedId } from '../../runtime/domain/id.js';
import { uuid7 } from '../../runtime/domain/id-source.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { EventCatalog } from '../../runtime/persistence/codec/event-catalog.js';
import { SqlShardStore } from '../../runtime/persistence/sql-shard-store.js';
import type { PlanWrite } from '../../runtime/persistence/write/plan-write.js';
import { DriverFailure } from '../../runtime/sharding/driver-failure.js';
import { forwarding } from '../../runtime/sharding/forwarding.js';
import type { ShardDatabase } from '../../runtime/sharding/shard-database.js';
import { describeOn } from '../databases/vitest.js';
import {
  events,
  migrations,
  Purse,
  purseModel,
  type Stored,
  StoredBuilder,
  Tally,
  tallyModel,
} from './models.js';
import { NAMESPACE } from './run-model.js';

const shard = ShardIdentifier.of(0, 0);
const ROWS = 8;
/** Longer than the server takes to detect a deadlock. */
const dataSource = { lockTimeoutMs: 5_000 };

/** The same database with changed statement texts. */
function rewriting(database: ShardDatabase, rewrite: (text: string) => string): ShardDatabase {
  return forwarding(database, {
    query: ({ text, values }, options) => database.query({ text: rewrite(text), values }, options),
  });
}

function planOf(items: readonly StagedItem[]): PlanWrite {
  const now = new Date();
  const action = {
    id: uuid7.next(shard.bits),
    name: 'test',
    principal: 'test',
    startedDate: now,
    completedDate: now,
  };
  return {
    action: { ...action, params: undefined },
    items,
    traceContext: undefined,
    key: undefined,
  };
}

/** Purses and tallies alternate. */
function newModel(index: number): { readonly descriptor: ModelDescriptor; readonly model: Stored } {
  const content = { value: 0, writer: 'start', bucket: 0, label: null };
  if (index % 2 === 0) {
    const model = StoredBuilder.create(purseModel, ShardedId.generate(Purse, shard), content, 0);
    return { descriptor: purseModel as unknown as ModelDescriptor, model };
  }
  const model = StoredBuilder.create(tallyModel, ShardedId.generate(Tally, shard), content, 0);
  return { descriptor: tallyModel as unknown as ModelDescriptor, model };
}

/**
 * Two stores lock the same rows of two tables, each in one statement and delayed in the middle until each holds its
 * first locks. Returns the SQLSTATEs of failures.
 */
async function fight(
  database: ShardDatabase,
  second: ShardDatabase,
): Promise<readonly (string | undefined)[]> {
  const stores = [database, second].map(
    (each) => new SqlShardStore(each, NAMESPACE, new EventCatalog(events)),
  );
  const models = Array.from({ length: ROWS }, (_, index) => newModel(index));
  const adds = models.map(
    ({ descriptor, model }): StagedItem => ({ kind: 'add', descriptor, model, events: [] }),
  );
  await stores[0]?.flush({ groups: [[planOf(adds)]], locked: 'wait' });
  // An expectation locks without a change, so only the order of locks is tested.
  const guards = models.map(
    ({ descriptor, model }): StagedItem => ({ kind: 'expect', descriptor, model, expectedVersion: 1 }),
  );
  const release = await lockRows(database, [models[ROWS / 2], models[ROWS / 2 + 1]]);
  const flushes = [guards, [...guards].reverse()].map((items, index) =>
    stores[index]?.flush({ groups: [[planOf(items)]], locked: 'wait' }),
  );
  await expect.poll(() => waiting(database), { timeout: 60_000, interval: 10 }).toBe(2);
  await release();
  const outcomes = await Promise.allSettled(flushes);
  return outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' && outcome.reason instanceof DriverFailure ? [outcome.reason.sqlState] : [],
  );
}

/** Statements of this database that wait for a row. */
async function waiting(database: ShardDatabase): Promise<number> {
  const text =
    "select count(*)::int4 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return Number((await database.query({ text, values: [] })).rows[0]?.[0]);
}

/** Locks these rows until the returned function is called. */
async function lockRows(
  database: ShardDatabase,
  models: readonly (ReturnType<typeof newModel> | undefined)[],
): Promise<() => Promise<void>> {
  const session = await database.acquire();
  await session.query({ text: 'begin', values: [] });
  for (const each of models) {
    if (each === undefined) continue;
    const text = `select from ${each.descriptor.table} where id = $1 for update`;
    await session.query({ text, values: [each.model.id.getValue()] });
  }
  return async () => {
    await session.query({ text: 'rollback', values: [] });
    session.release();
  };
}

describeOn('postgresql', 'locks of two processes', (harness) => {
  test('are taken in one order, independent of the order of staging, so that no deadlock occurs', async () => {
    const database = (await harness.makeShards({ shards: [shard], migrations, dataSource })).database(shard);
    expect(await fight(database, database)).toEqual([]);
  });

  test('taken in different orders would deadlock', async () => {
    const database = (await harness.makeShards({ shards: [shard], migrations, dataSource })).database(shard);
    const backwards = rewriting(database, (text) =>
      text.replaceAll('ORDER BY t.id FOR', 'ORDER BY t.id DESC FOR'),
    );
    expect(await fight(database, backwards)).toContain('40P01');
  });
});
