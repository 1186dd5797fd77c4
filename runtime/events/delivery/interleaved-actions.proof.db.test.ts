import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import { CreditAction, HERE, THERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import type { LoggedEvent } from '../log/event-record.js';
import { LogReader } from '../log/log-reader.js';
import { seededRandom } from '../test-support/late-writers.js';
import { handlerOf, type Ledger, ledgerMigrations, openLedger, until } from '../test-support/ledger.js';
import { SeededSchedule } from '../test-support/seeded-schedule.js';
import { HandlerAttempts } from './handler-attempts.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

/**
 * Processes that handle one event at the same time: the holder of the lease, and those that do not know they lost it.
 */
const PROCESSES = 3;
/** More awaits than an attempt has that starts all three actions itself. */
const AWAITS = 28;
const PATIENT = { timeoutMs: 300_000, maximumAttempts: 50 };

/** Accounts that one event credits: by 1, 2 and 3. */
type Targets = readonly [there: string, here: string, bonus: string];

/** Starts three actions, one alone and two in parallel, and records their results. */
function crediting(targets: Targets, answers: string[][]): HandlerDescriptor {
  return handlerOf('Credits', async (envelope) => {
    const credit = async (call: number, name?: string): Promise<void> => {
      const params = { account: targets[call] ?? '', amount: new Decimal(call + 1) };
      const options = { timeoutMs: PATIENT.timeoutMs, ...(name === undefined ? {} : { name }) };
      const account = await envelope.execute(CreditAction, params, options);
      answers[call]?.push(`${account.balance.toFixed()}@${account.version}`);
    };
    await credit(0);
    await Promise.all([credit(1), credit(2, 'bonus')]);
  });
}

/** Makes attempts until one succeeds, as delivery does. */
async function handle(handler: HandlerDescriptor, event: LoggedEvent, { executor }: Ledger): Promise<void> {
  const attempts = new HandlerAttempts(handler, executor, Math.random);
  const signal = new AbortController().signal;
  const context = { identity: 'Credits', again: undefined, replayed: false, signal };
  for (let number = 1; ; number += 1) {
    try {
      await attempts.handle(event, { number, transaction: undefined }, context);
      return;
    } catch (error) {
      if (number > 100) throw error;
    }
  }
}

async function lastEvent(databases: DatabaseRegistry, id: string): Promise<LoggedEvent> {
  const reader = new LogReader(databases.database(HERE));
  const start = { epoch: 1, transactionId: '0', position: 0 };
  let found: LoggedEvent | undefined;
  await until(async () => {
    const { events } = await reader.read({ eventTypes: ['AccountCredited'] }, start, 10_000);
    found = events.find(({ modelId }) => modelId === id);
    return found !== undefined;
  });
  if (found === undefined) throw new Error('No event');
  return found;
}

describeOn('postgresql', 'Actions that a handler starts, in processes that overlap', (harness) => {
  test('take effect once, at every await where one process may die, in any order of the others', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    const healthy = harness.open(topology);
    const writer = openLedger(healthy);
    let deaths = 0;
    for (let diesAt = 1; diesAt <= AWAITS; diesAt += 1) {
      const targets: Targets = [await writer.open(THERE), await writer.open(), await writer.open(THERE)];
      const source = await writer.open();
      await writer.credit(source);
      const event = await lastEvent(healthy, source);
      const schedule = new SeededSchedule(seededRandom(diesAt));
      const answers: string[][] = [[], [], []];
      const handler = crediting(targets, answers);
      const processes = Array.from({ length: PROCESSES }, (_, index) =>
        schedule.process(topology, index === 0 ? diesAt : undefined),
      );
      for (const { databases, environment, run } of processes) {
        const ledger = openLedger(databases, { environment, execution: PATIENT });
        run(() => handle(handler, event, ledger));
      }
      await schedule.toTheEnd();
      await handle(handler, event, writer);
      if ((processes[0]?.gates() ?? 0) >= diesAt) deaths += 1;
      await Promise.all(processes.map(({ databases }) => databases.close(0)));
      const balances = await Promise.all(targets.map((target) => writer.balance(target)));
      expect([diesAt, ...balances]).toEqual([diesAt, '1', '2', '3']);
      expect(answers.map((each) => [...new Set(each)])).toEqual([['1@2'], ['2@2'], ['3@2']]);
    }
    // A process that finds its keys taken has one await less, so the number of deaths varies; the early ones always
    // happen.
    expect(deaths).toBeGreaterThan(10);
  }, 180_000);
});
