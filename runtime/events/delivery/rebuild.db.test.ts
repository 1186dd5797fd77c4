import { beforeEach, expect, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { gate } from '../../concurrency/test-support/gate.js';
import { HERE, THERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { EventOperations } from '../event-operations.js';
import { interceptedDatabases } from '../test-support/faulty-databases.js';
import {
  type CreditedEnvelope,
  creditedEvent,
  handlerOf,
  type Ledger,
  ledgerMigrations,
  until,
} from '../test-support/ledger.js';
import { credited, testLedger } from '../test-support/test-ledger.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

const TABLES = {
  name: '0009_totals',
  up: `create table owners (account text primary key);
   create table totals (account text primary key references owners, credits int not null, twice int generated always as (credits * 2) stored);
   create view shown as select * from totals`,
};

/** Counts the credits of each account. @param step what each credit counts @param before called for each credit */
function totals(
  step: number,
  settings: Parameters<typeof handlerOf>[2] = {},
  before: (envelope: CreditedEnvelope) => void = () => {},
): HandlerDescriptor {
  return handlerOf(
    'Totals',
    async (envelope) => {
      before(envelope);
      const { transaction, modelId } = envelope;
      const run = (text: string) =>
        transaction.query({ text, values: [modelId, step].slice(0, text.includes('$2') ? 2 : 1) });
      await run('INSERT INTO owners (account) VALUES ($1) ON CONFLICT DO NOTHING');
      await run(`INSERT INTO totals (account, credits) VALUES ($1, $2)
        ON CONFLICT (account) DO UPDATE SET credits = totals.credits + excluded.credits`);
    },
    { transactional: true, projection: ['owners', 'totals'], retryDelayMs: 1, ...settings },
  );
}

describeOnEachAdapter('The rebuild of a projection', (harness) => {
  let databases: DatabaseRegistry;
  let operations: EventOperations;

  beforeEach(async () => {
    databases = await makeShard(harness);
    operations = new EventOperations(databases);
    const { rows } = testLedger(databases);
    await rows('GRANT DELETE ON owners, totals TO PUBLIC');
    await rows(
      "DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO PUBLIC', current_database()); END $$",
    );
  });

  function startOn(on: DatabaseRegistry, ...handlers: readonly HandlerDescriptor[]): Ledger {
    const ledger = testLedger(on, { handlers, limits: { surveyMs: 50 } });
    ledger.events.start();
    return ledger;
  }
  const start = (...handlers: readonly HandlerDescriptor[]): Ledger => startOn(databases, ...handlers);

  const rowsOf = async (ledger: Ledger, table = 'shown'): Promise<readonly unknown[]> =>
    (await ledger.rows(`SELECT credits, twice FROM ${table} ORDER BY account`)).map(([credits]) => credits);
  const isOver = async (): Promise<boolean> =>
    (await operations.lag(HERE))[0]?.consumers.every(({ kind }) => kind === 'live') === true;
  const schemas = (ledger: Ledger) =>
    ledger.rows("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'fw_rebuild%'");

  test('replaces all rows at once, while actions go on and readers see the former ones until then', async () => {
    const old = start(totals(1));
    const accounts = [await old.open(), await old.open()];
    for (const account of accounts) for (let nr = 0; nr < 5; nr += 1) await old.credit(account);
    await until(async () => (await rowsOf(old)).join() === '5,5');
    await old.events.stop();
    const next = start(totals(10));
    await next.events.rebuild('Totals');
    const views = new Set<string>();
    let done = false;
    const reading = (async () => {
      while (!done) {
        views.add(
          ((await rowsOf(next)) as number[]).map((each) => (each % 10 === 5 ? 'former' : 'new')).join(),
        );
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    for (let nr = 0; nr < 20; nr += 1) for (const account of accounts) await next.credit(account);
    await until(isOver);
    await until(async () => (await rowsOf(next)).join() === '250,250');
    done = true;
    await reading;
    expect([...views].filter((view) => view.includes('former') && view.includes('new'))).toEqual([]);
    expect(await schemas(next)).toEqual([]);
    for (const account of accounts) await next.credit(account);
    await until(async () => (await rowsOf(next)).join() === '260,260');
    expect(next.warnings).toEqual([]);
  });

  test('handles several events in each transaction, however slow the database is', async () => {
    const old = start(totals(1));
    await credited(old, 60);
    await until(async () => (await rowsOf(old)).join() === '60');
    await old.events.stop();
    let transactions = 0;
    const slow = interceptedDatabases(databases, async (call, text) => {
      if (text.includes("set_config('search_path', $1 ||")) transactions += 1;
      const answer = await call();
      await new Promise((resolve) => setTimeout(resolve, 30));
      return answer;
    });
    const next = startOn(slow, totals(10));
    await next.events.rebuild('Totals');
    await until(isOver);
    expect(await rowsOf(old)).toEqual([600]);
    expect(transactions).toBeLessThan(40);
    await next.events.stop();
  });

  test('is continued by another process', async () => {
    const first = start(totals(1));
    await credited(first, 5);
    await until(async () => (await rowsOf(first)).join() === '5');
    await first.events.stop();
    let handled = 0;
    const failing = totals(10, { maximumAttempts: 1_000 }, () => {
      handled += 1;
      if (handled > 3) throw new Error('not now');
    });
    await operations.rebuild('Totals');
    const [ordered] = await operations.rebuilds('Totals');
    expect(ordered?.waitingFor).toBe('a process that runs the handler');
    const second = start(failing);
    await until(() => handled > 4);
    await second.events.stop(0);
    expect((await rowsOf(second)).join()).toBe('5');
    const third = start(totals(10));
    await until(isOver);
    expect((await rowsOf(third)).join()).toBe('50');
  });

  // The embedded database has one session: nothing commits during the transaction.
  if (harness.adapter === 'postgresql')
    test('handles in the last transaction what the live handler has handled in the meantime', async () => {
      let [locks, isSwitching] = [0, false];
      const shown: unknown[] = [];
      const watched = interceptedDatabases(databases, async (call, text) => {
        if (text.startsWith('LOCK TABLE')) {
          locks += 1;
          for (let nr = 0; nr < 3; nr += 1) await ledger.credit(account);
          await until(async () => (await rowsOf(ledger)).join() === '103');
        }
        if (text.startsWith('DROP SCHEMA')) isSwitching = true;
        const result = await call();
        if (text === 'COMMIT' && isSwitching) shown.push(...(await rowsOf(testLedger(databases))));
        return result;
      });
      const ledger = startOn(watched, totals(1));
      const account = await credited(ledger);
      await until(async () => (await rowsOf(ledger)).join() === '1');
      await ledger.rows('UPDATE totals SET credits = 100');
      await ledger.events.rebuild('Totals');
      await until(async () => shown.length > 0 && (await isOver()));
      expect([locks, shown[0], ...(await rowsOf(ledger))]).toEqual([1, 4, 4]);
    });

  if (harness.adapter === 'postgresql')
    test('leaves an event of a newer version to a newer process also in the last transaction', async () => {
      const next = start(
        totals(10, { event: { ...creditedEvent, version: 2, upcasters: [(payload) => payload] } }),
      );
      const account = await next.open();
      await next.credit(account);
      await until(async () => (await rowsOf(next)).join() === '10');
      let isLate = true;
      const old = interceptedDatabases(databases, async (call, text) => {
        if (isLate && text.startsWith('LOCK TABLE')) {
          isLate = false;
          await next.credit(account);
          await next.rows('UPDATE eventlog.events SET event_version = 2 WHERE model_version = 3');
          await until(async () => (await rowsOf(next)).join() === '20');
        }
        return call();
      });
      // It takes the rebuild, because the other process has the live handler.
      startOn(old, totals(1));
      await operations.rebuild('Totals');
      await until(isOver);
      expect([isLate, ...(await rowsOf(next))]).toEqual([false, 11]);
    });

  test('waits for the retry of an event that fails, and applies a dead letter of the live handler once', async () => {
    const broken = new Set<number>([3]);
    const partly = totals(1, { maximumAttempts: 1 }, ({ modelVersion }) => {
      if (broken.has(modelVersion)) throw new Error('broken');
    });
    const ledger = start(partly);
    const account = await credited(ledger, 4);
    const letters = async () =>
      (await operations.lag(HERE))[0]?.consumers.map(({ deadLetters }) => deadLetters);
    await until(async () => (await letters())?.join() === '3');
    await ledger.events.rebuild('Totals');
    await until(async () => (await letters())?.join() === '3,3');
    expect((await rowsOf(ledger)).join()).toBe('1');
    broken.clear();
    const [, rebuild] = (await operations.lag(HERE))[0]?.consumers ?? [];
    await ledger.events.deadLetters.retry({ handler: rebuild?.name ?? '' });
    await until(isOver);
    expect([(await rowsOf(ledger)).join(), (await letters())?.join()]).toEqual(['4', '0']);
    await ledger.credit(account);
    await until(async () => (await rowsOf(ledger)).join() === '5');
  });

  test('halts before its handler writes a table that it has not declared, and can be abandoned', async () => {
    const ledger = start(totals(1, { projection: ['owners'] }));
    await ledger.rows('ALTER TABLE totals DROP CONSTRAINT totals_account_fkey');
    const account = await credited(ledger);
    await until(async () => (await rowsOf(ledger)).join() === '1');
    await ledger.events.rebuild('Totals');
    const waiting = async () => (await operations.lag(HERE))[0]?.consumers[1]?.waitingFor;
    await until(async () => (await waiting()) !== undefined);
    expect(await waiting()).toMatch(
      /^halted: The handler writes public\.totals, which a rebuild would write twice/,
    );
    await expect(ledger.events.rebuild('Totals')).rejects.toThrow('is under way');
    expect(await operations.abandonRebuild('Totals')).toBe(1);
    expect([await isOver(), await schemas(ledger)]).toEqual([true, []]);
    await ledger.credit(account);
    await until(async () => (await rowsOf(ledger)).join() === '2');
  });

  if (harness.adapter === 'postgresql')
    test('can be abandoned while its handler is running, whose tables are dropped once it returns', async () => {
      let isHandling = false;
      const { opened: passed, open: letGo } = gate();
      const handler = totals(1);
      const slow: HandlerDescriptor = {
        ...handler,
        create: () => ({
          handle: async (envelope: { readonly replayed: boolean; readonly modelVersion: number }) => {
            await handler.create().handle(envelope as never);
            if (!envelope.replayed) return;
            // The first event commits the tables: it takes so long that its group ends.
            if (envelope.modelVersion === 2) return void (await new Promise((end) => setTimeout(end, 100)));
            isHandling = true;
            await passed;
          },
        }),
      };
      const ledger = start(slow);
      await credited(ledger, 2);
      await until(async () => (await rowsOf(ledger)).join() === '2');
      await ledger.events.rebuild('Totals');
      await until(() => isHandling);
      // Longer than any statement waits for a lock.
      setTimeout(letGo, 1_000);
      expect(await operations.abandonRebuild('Totals')).toBe(1);
      expect([await isOver(), await schemas(ledger)]).toEqual([true, []]);
    });

  test('is ordered once, however many order it at once', async () => {
    const ledger = start(totals(1));
    await credited(ledger);
    await until(async () => (await rowsOf(ledger)).join() === '1');
    await ledger.events.stop();
    const orders = await Promise.allSettled(Array.from({ length: 5 }, () => operations.rebuild('Totals')));
    expect(orders.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const order of orders)
      if (order.status === 'rejected') expect(String(order.reason)).toContain('is under way');
    expect(await operations.rebuilds('Totals')).toHaveLength(1);
  });

  test('leaves no dead letters when it is abandoned', async () => {
    let isBroken = false;
    const breaking = totals(1, { maximumAttempts: 1 }, () => {
      if (isBroken) throw new Error('broken');
    });
    const ledger = start(breaking);
    await credited(ledger);
    await until(async () => (await rowsOf(ledger)).join() === '1');
    isBroken = true;
    await ledger.events.rebuild('Totals');
    const letters = () => ledger.rows('SELECT consumer FROM eventlog.dead_letters');
    await until(async () => (await letters()).length > 0);
    expect(await operations.abandonRebuild('Totals')).toBe(1);
    expect([await letters(), await isOver()]).toEqual([[], true]);
  });

  test('takes over the letters that were discarded for it, with their notes', async () => {
    const partly = totals(1, { maximumAttempts: 1 }, ({ modelVersion }) => {
      if (modelVersion === 3) throw new Error('broken');
    });
    const ledger = start(partly);
    await credited(ledger, 2);
    const letters = () => ledger.rows('SELECT consumer, note FROM eventlog.dead_letters ORDER BY consumer');
    await until(async () => (await letters()).length === 1);
    await ledger.events.deadLetters.discard({ handler: 'Totals' }, 'skipped');
    await ledger.events.rebuild('Totals');
    const name = async () => (await operations.rebuilds('Totals'))[0]?.name ?? '';
    await until(async () => (await letters()).length === 2);
    await ledger.events.deadLetters.discard({ handler: await name() }, 'unreadable');
    await until(isOver);
    expect(await letters()).toEqual([['Totals', 'unreadable']]);
    expect((await rowsOf(ledger)).join()).toBe('1');
  });

  test.each([
    ['a trigger', 'CREATE TRIGGER touched BEFORE UPDATE ON totals', 'totals has the trigger touched'],
    [
      'an identity column',
      'ALTER TABLE totals ADD nr int GENERATED ALWAYS AS IDENTITY',
      'an identity column',
    ],
    [
      'a reference from elsewhere',
      'CREATE TABLE notes (account text REFERENCES totals)',
      'notes references totals',
    ],
    ['another name', 'DROP TABLE totals CASCADE', 'There is no table totals'],
  ])('halts at a table with %s', async (_name, change, reason) => {
    const ledger = start(totals(1));
    await credited(ledger);
    await until(async () => (await rowsOf(ledger)).join() === '1');
    const trigger = change.startsWith('CREATE TRIGGER')
      ? ' FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()'
      : '';
    await ledger.rows(change + trigger);
    await ledger.events.rebuild('Totals');
    const waiting = async () => (await operations.rebuilds('Totals'))[0]?.waitingFor ?? '';
    await until(async () => (await waiting()).startsWith('halted: '));
    expect(await waiting()).toContain(reason);
    expect(await schemas(ledger)).toEqual([]);
  });

  test('is refused for a handler without a projection, and for one that is not transactional', async () => {
    const ledger = start(
      handlerOf('Plain', () => {}),
      totals(1, { projection: undefined as never }),
    );
    await until(async () => (await operations.lag(HERE))[0]?.consumers.length === 2);
    await expect(ledger.events.rebuild('Totals')).rejects.toThrow('Handler Totals declares no projection');
    await expect(operations.rebuild('Plain')).rejects.toThrow('Plain is not transactional');
    await expect(operations.rebuild('Unknown')).rejects.toMatchObject({ code: 'FW_UNKNOWN_HANDLER' });
    await operations.rebuild('Totals');
    const reason = async () =>
      (await operations.lag(HERE))[0]?.consumers.find(({ kind }) => kind === 'replay')?.waitingFor;
    await until(() => ledger.warnings.some((line) => line.includes('declares no projection')));
    await until(async () => (await reason()) !== undefined);
    expect(await reason()).toMatch(/declares no projection/);
  });
});

describeOnEachAdapter('A replay or rebuild of several shards', (harness) => {
  test.each(['rebuild', 'replay'] as const)('is ordered on all of them or on none: %s', async (kind) => {
    const shards = [HERE, THERE];
    const databases = await harness.makeShards({ shards, migrations: [...ledgerMigrations, TABLES] });
    const ledger = testLedger(databases, { handlers: [totals(1)], limits: { surveyMs: 50 } });
    ledger.events.start();
    for (const shard of shards) await ledger.credit(await ledger.open(shard));
    const counted = async () =>
      (await Promise.all(shards.map((shard) => ledger.rows('SELECT FROM totals', shard)))).flat();
    await until(async () => (await counted()).length === 2);
    await ledger.events.stop();
    let orders = 0;
    const failing = interceptedDatabases(databases, async (call, text) => {
      if (!text.includes("'replay'") || !text.includes('INSERT INTO')) return call();
      orders += 1;
      if (orders === 1) return call();
      // The other one is ordered meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new Error('lost');
    });
    const operations = new EventOperations(failing);
    const ordered =
      kind === 'rebuild'
        ? operations.rebuild('Totals')
        : operations.replay('Totals', { time: new Date(0) }, { again: true });
    await expect(ordered).rejects.toThrow('lost');
    expect(orders).toBe(2);
    const kinds = (await operations.lag()).flatMap(({ consumers }) => consumers.map((each) => each.kind));
    expect(kinds).toEqual(['live', 'live']);
  });
});

function makeShard(harness: DatabaseHarness): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards: [HERE], migrations: [...ledgerMigrations, TABLES] });
}
