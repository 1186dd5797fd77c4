import { expect, test } from 'vitest';
import { VERSION_VARIABLE } from '../databases/binaries.js';
import { runNested } from '../nested-run.js';

/** A share of `npm run proof:versions`, which runs on every version: keys, parked events, migrations. */
const SHARE = [
  'runtime/execution/keys/key-guard.db.test.ts',
  'runtime/events/dead-letters/parking.db.test.ts',
  'runtime/migration/drift.db.test.ts',
];

test('executor, delivery and migrations work on an older version of PostgreSQL', async () => {
  const { passed, failed, failures } = await runNested(SHARE, { [VERSION_VARIABLE]: '16' });
  expect(failed, failures).toBe(0);
  expect(passed).toBeGreaterThan(8);
}, 300_000);
