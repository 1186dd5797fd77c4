import { expect, test } from 'vitest';
import { gate } from '../concurrency/test-support/gate.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { DriverFailure } from './driver-failure.js';
import { ServedDatabase, type SwitchOptions } from './served-database.js';
import type { Place, Rows, ShardDatabase } from './shard-database.js';

const NOTHING: Rows = { columns: [], rows: [], command: 'SELECT', rowCount: 0 };
const SELECT = { text: 'select 1', values: [] };

/** A database that notes which statements it gets. */
function fake(sent: string[]): ShardDatabase {
  return {
    ...{ shard: ShardIdentifier.of(0, 0), kind: 'postgresql', description: 'fake', sessionState: true },
    query: ({ text }) => {
      sent.push(text);
      return Promise.resolve(NOTHING);
    },
    acquire: () => Promise.reject(new Error('none')),
    stats: () => ({ open: 0, idle: 0, waiting: 0 }),
    close: () => Promise.resolve(),
  };
}

function switching(sent: string[], atEnd: () => void): SwitchOptions {
  const openNew = (): ShardDatabase => {
    // Runs when the barrier is open, and before the calls behind it go on.
    queueMicrotask(atEnd);
    return fake(sent);
  };
  return { timeoutMs: 1_000, patienceMs: 1_000, check: () => Promise.resolve(), openNew, openOld: openNew };
}

test('a call that leaves its place while the barrier opens is not sent', async () => {
  const sent: string[] = [];
  const database = new ServedDatabase(fake(sent), 1_000);
  const place: Place = {};
  const switched = database.switchTo(switching(sent, () => place.leave?.()));
  const call = database.query(SELECT, { place });
  await expect(call).rejects.toThrow(DriverFailure);
  await switched;
  expect(sent).toEqual([]);
});

test('a call that is aborted behind the barrier ends at once', async () => {
  const sent: string[] = [];
  const database = new ServedDatabase(fake(sent), 60_000);
  const { opened: checked, open: finish } = gate();
  const switched = database.switchTo({ ...switching(sent, () => {}), check: () => checked });
  const abort = new AbortController();
  const call = database.query(SELECT, { signal: abort.signal });
  const outcome = Promise.race([
    call.catch(({ reason }: DriverFailure) => reason),
    new Promise((resolve) => setTimeout(resolve, 200, 'waits')),
  ]);
  abort.abort();
  expect(await outcome).toBe('aborted');
  finish();
  await switched;
  expect(sent).toEqual([]);
});

test('a replaced pool that is still in use is closed with the database', async () => {
  const closed: (number | undefined)[] = [];
  const busy: ShardDatabase = {
    ...fake([]),
    stats: () => ({ open: 1, idle: 0, waiting: 0 }),
    close: (graceMs) => {
      closed.push(graceMs);
      return Promise.resolve();
    },
  };
  const database = new ServedDatabase(busy, 1_000);
  database.replace(fake([]), 1_000);
  await database.close(7);
  expect(closed).toEqual([7]);
});

test('the server is not switched while calls on a replaced pool are in progress', async () => {
  const sent: string[] = [];
  let open = 1;
  const busy: ShardDatabase = { ...fake([]), stats: () => ({ open, idle: 0, waiting: 0 }) };
  const database = new ServedDatabase(busy, 1_000);
  database.replace(fake([]), 1_000);
  const options = switching(sent, () => {});
  await expect(database.switchTo({ ...options, patienceMs: 20 })).rejects.toThrow('still in progress');
  open = 0;
  await database.switchTo(options);
  await database.query(SELECT);
  expect(sent).toEqual([SELECT.text]);
});
