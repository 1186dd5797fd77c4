import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { Decimal } from '../../domain/decimal.js';
import { CreditAction, HERE, THERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { mortalDatabases } from '../test-support/faulty-databases.js';
import { handlerOf, type Ledger, ledgerMigrations, openLedger, until } from '../test-support/ledger.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

/**
 * The process dies at each of its first 40 statements, one run each: enough to pass the first event's last checkpoint.
 */
const STATEMENTS = 40;
const QUICK = { leaseMs: 250, surveyMs: 50 };

/** Credits the mirror on the other shard, and copies the event in its own transaction. */
function handlersFor(mirror: string): readonly HandlerDescriptor[] {
  return [
    handlerOf('Mirror', async (envelope) => {
      if (envelope.modelId === mirror) return;
      await envelope.execute(CreditAction, { account: mirror, amount: new Decimal(1) });
    }),
    handlerOf(
      'Copy',
      async ({ transaction, id, modelId, modelVersion }) => {
        await transaction.query({
          text: "INSERT INTO seen (handler, event_id, model_id, version) VALUES ('Copy', $1, $2, $3)",
          values: [id, modelId, modelVersion],
        });
      },
      { transactional: true },
    ),
  ];
}

describeOn('postgresql', 'A process that dies at any of its statements', (harness) => {
  test.each([
    ['before the server gets it', false],
    ['after the server has answered', true],
  ])('%s, has its events handled by the next one, each effect once', async (_, after) => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    const healthy = harness.open(topology);
    const writer = openLedger(healthy);
    const [account, mirror] = [await writer.open(HERE), await writer.open(THERE)];
    for (let statement = 1; statement <= STATEMENTS; statement += 1) {
      await writer.credit(account);
      const { databases, dead, arm } = mortalDatabases(topology);
      arm(statement, after);
      const mortal = openLedger(databases, { handlers: handlersFor(mirror), limits: QUICK });
      mortal.events.start();
      await until(dead);
      await surviveBy(healthy, mirror, writer, statement);
      await mortal.events.stop(0);
      await databases.close(0);
    }
    expect(await writer.balance(mirror)).toBe(String(STATEMENTS));
    const copied = await writer.rows("SELECT version FROM seen WHERE handler = 'Copy' ORDER BY nr");
    expect(copied.flat().map(Number)).toEqual(Array.from({ length: STATEMENTS }, (__, index) => index + 2));
  });
});

/** Another process takes over and handles the remaining events. */
async function surviveBy(
  databases: DatabaseRegistry,
  mirror: string,
  writer: Ledger,
  events: number,
): Promise<void> {
  const survivor = openLedger(databases, { handlers: handlersFor(mirror), limits: QUICK });
  survivor.events.start();
  await until(async () => Number(await writer.balance(mirror)) >= events);
  await until(async () => (await writer.rows('SELECT FROM seen')).length >= events);
  await survivor.events.stop();
}
