import { onTestFinished } from 'vitest';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { type Ledger, type LedgerOptions, openLedger } from './ledger.js';

/** Opens a ledger whose delivery stops when the test ends. */
export function testLedger(databases: DatabaseRegistry, options?: LedgerOptions): Ledger {
  const ledger = openLedger(databases, options);
  onTestFinished(() => ledger.events.stop(0));
  return ledger;
}
