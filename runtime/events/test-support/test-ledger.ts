import { onTestFinished } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import type { HandlerSettings } from '../../action/markers.js';
import { HERE } from '../../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import {
  type CreditedEnvelope,
  handlerOf,
  type Ledger,
  type LedgerOptions,
  ledgerMigrations,
  openLedger,
  until,
} from './ledger.js';

/** Opens a ledger whose delivery stops when the test ends. */
export function testLedger(databases: DatabaseRegistry, options?: LedgerOptions): Ledger {
  const ledger = openLedger(databases, options);
  onTestFinished(() => ledger.events.stop(0));
  return ledger;
}

/** A ledger on one shard of its own, with one handler. */
export async function handlerLedger(
  harness: DatabaseHarness,
  name: string,
  handle: (envelope: CreditedEnvelope) => Promise<void> | void,
  { limits = {}, ...settings }: HandlerSettings & Pick<LedgerOptions, 'limits'> = {},
): Promise<Ledger> {
  const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
  return testLedger(databases, { handlers: [handlerOf(name, handle, settings)], limits });
}

/** Waits until the first handler of the first shard has handled all events. */
export function caughtUp({ events }: Ledger): Promise<void> {
  return until(async () => (await events.lag())[0]?.consumers[0]?.behind === 0);
}

/** A new account that was credited with 1 so many times. */
export async function credited(ledger: Ledger, count = 1): Promise<string> {
  const account = await ledger.open();
  for (let each = 0; each < count; each += 1) await ledger.credit(account);
  return account;
}

/** What the first handler of the first shard waits for. */
export async function waitingFor({ events }: Ledger): Promise<string | undefined> {
  return (await events.lag(HERE))[0]?.consumers[0]?.waitingFor;
}
