import { expect, test, vi } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOn, describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { HeldLease } from '../../concurrency/held-lease.js';
import { HERE } from '../../execution/test-support/accounts.js';
import type { Statement } from '../../sharding/shard-database.js';
import { interceptedDatabases, lost } from '../test-support/faulty-databases.js';
import { type LateStatement, lateDatabases } from '../test-support/late-statements.js';
import { handlerOf, type Ledger, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';
import { Checkpoint } from './checkpoint.js';
import { ConsumerStore } from './consumer-store.js';
import type { HandlerDescriptor } from './handler-descriptor.js';
import type { LeasedLoop } from './leased-loop.js';
import { registerConsumer } from './register-consumers.js';

const INSERT = "INSERT INTO seen (handler, event_id, model_id, version) VALUES ('Copy', $1, $2, $3)";
const WAITING =
  "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** Inserts a row per event, and pushes the number of each attempt to `attempts`. */
function copying(attempts: number[], broken: () => boolean = () => false): HandlerDescriptor {
  return handlerOf(
    'Copy',
    async ({ id, modelId, modelVersion, transaction }) => {
      if (broken()) throw new Error('broken');
      await transaction.query({ text: INSERT, values: [id, modelId, modelVersion] });
      attempts.push(modelVersion);
    },
    { transactional: true, maximumAttempts: 1 },
  );
}

async function copies(ledger: Ledger): Promise<readonly unknown[]> {
  return (await ledger.rows('SELECT version::int FROM seen ORDER BY nr')).map(([version]) => version);
}

async function behind(ledger: Ledger): Promise<number | undefined> {
  return (await ledger.events.lag())[0]?.consumers[0]?.behind;
}

/** A process that delivers, of which one statement arrives late, and another one that writes. */
async function processes(
  harness: DatabaseHarness,
  handler: HandlerDescriptor,
  pick: (statement: Statement) => boolean,
): Promise<{ readonly writer: Ledger; readonly reader: Ledger; readonly late: LateStatement }> {
  const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
  const { databases, late } = lateDatabases(topology, pick);
  const writer = testLedger(harness.open(topology));
  return { writer, reader: testLedger(harness.keep(databases), { handlers: [handler] }), late };
}

describeOn('postgresql', 'A COMMIT that reaches the server after it was given up', (harness) => {
  test.each([1, 3])('does not apply a transactional handler twice (%i events at once)', async (count) => {
    const attempts: number[] = [];
    // Picks the COMMIT after the first effects; a read-only transaction does not count.
    const { writer, reader, late } = await processes(
      harness,
      copying(attempts),
      ({ text }) => text === 'COMMIT' && attempts.length === count,
    );
    const account = await writer.open();
    for (let each = 0; each < count; each += 1) await writer.credit(account);
    reader.events.start();
    // The event was handled again, and its checkpoint waits for the row that the first transaction has locked.
    await until(async () => late.heldBack() && (await writer.rows(WAITING))[0]?.[0] === 1);
    await late.arrive();
    await until(async () => (await behind(writer)) === 0);
    await writer.credit(account);
    await until(() => attempts.includes(count + 2));
    await until(async () => (await behind(writer)) === 0);
    expect(await copies(writer)).toEqual(Array.from({ length: count + 1 }, (_, index) => index + 2));
  });

  test('does not apply the retry of a dead letter twice', async () => {
    const attempts: number[] = [];
    let broken = true;
    const { writer, reader, late } = await processes(
      harness,
      copying(attempts, () => broken),
      ({ text }) => text === 'COMMIT' && attempts.length === 1,
    );
    await writer.credit(await writer.open());
    reader.events.start();
    await until(async () => (await writer.events.deadLetters.list()).length === 1);
    broken = false;
    await writer.events.deadLetters.retry({});
    await until(async () => late.heldBack() && (await writer.rows(WAITING))[0]?.[0] === 1);
    await late.arrive();
    await until(async () => (await writer.events.deadLetters.list()).length === 0);
    await writer.credit(await writer.open());
    await until(async () => (await behind(writer)) === 0);
    await reader.events.stop();
    expect(await copies(writer)).toHaveLength(2);
  });
});

describeOnEachAdapter('A COMMIT that never reaches the server', (harness) => {
  test('lets a transactional handler handle its events again', async () => {
    const healthy = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const attempts: number[] = [];
    let isLost = false;
    const cut = interceptedDatabases(healthy, (call, text) => {
      if (text !== 'COMMIT' || isLost || attempts.length < 2) return call();
      isLost = true;
      return Promise.reject(lost('in-flight'));
    });
    const writer = testLedger(healthy);
    const reader = testLedger(harness.keep(cut), { handlers: [copying(attempts)] });
    const account = await writer.open();
    for (let each = 0; each < 2; each += 1) await writer.credit(account);
    reader.events.start();
    await until(async () => isLost && (await behind(writer)) === 0);
    expect([attempts, await copies(writer)]).toEqual([
      [2, 3, 2, 3],
      [2, 3],
    ]);
  });
});

describeOn('postgresql', 'A statement that reaches the server after it was given up', (harness) => {
  test('moves no checkpoint back', async () => {
    const seen: number[] = [];
    const { writer, reader, late } = await processes(
      harness,
      handlerOf('Plain', ({ modelVersion }) => void seen.push(modelVersion)),
      ({ name }) => name === 'fw_checkpoint',
    );
    const place = 'SELECT position::int FROM eventlog.consumers WHERE name = $$Plain$$';
    const account = await writer.open();
    reader.events.start();
    await writer.credit(account);
    await until(() => late.heldBack());
    await writer.credit(account);
    await until(async () => (await behind(writer)) === 0);
    const before = await writer.rows(place);
    await late.arrive();
    expect(await writer.rows(place)).toEqual(before);
    await writer.credit(account);
    await until(async () => (await behind(writer)) === 0);
    expect(seen).toEqual([2, 3, 4]);
  });

  test('moves a checkpoint once, and the run that sent it continues from there', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const ledger = testLedger(databases);
    const store = new ConsumerStore(databases.database(HERE));
    const start = { epoch: 1, transactionId: '0', position: 0 };
    await registerConsumer(databases.database(HERE), { name: 'Plain', kind: 'live' });
    const consumer = await store.acquire('Plain', 'me', 60_000);
    if (consumer === undefined) throw new Error('It is free');
    const { lease } = consumer;
    const to = { epoch: 1, transactionId: '700', position: 7 };
    const arrive = vi.spyOn(store, 'checkpoint').mockRejectedValueOnce(new Error('no answer'));
    const loop = { lease: new HeldLease(lease, performance.now(), 60_000) } as unknown as LeasedLoop;
    const run = new Checkpoint({ consumer, consumers: store }, loop);
    await expect(run.moveTo(to)).rejects.toThrow('no answer');
    arrive.mockRestore();
    expect(await store.checkpoint(lease, { from: start, to }, 60_000)).toBe(true);
    expect(await store.checkpoint(lease, { from: start, to }, 60_000)).toBe(false);
    expect(await store.readState(lease)).toEqual({ cursor: to, superseded: false });
    const place = async () =>
      (await ledger.rows("SELECT position::int FROM eventlog.consumers WHERE name = 'Plain'")).flat();
    const next = { epoch: 1, transactionId: '800', position: 9 };
    // The first statement is refused, because the lost one has arrived.
    expect([await run.moveTo(next), await place()]).toEqual([false, [7]]);
    expect([await run.learn(), run.saved]).toEqual([true, to]);
    expect([await run.moveTo(next), await place()]).toEqual([true, [9]]);
  });
});
