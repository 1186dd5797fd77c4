import { expect, test } from 'vitest';
import { ROLE_VARIABLE } from '../databases/roles.js';
import { runNested } from '../nested-run.js';

/** A share of what `npm run proof:roles` runs: keys, rows that are due, parked events. */
const SHARE = [
  'runtime/execution/keys/key-guard.db.test.ts',
  'runtime/events/schedules/schedules.db.test.ts',
  'runtime/events/dead-letters/parking.db.test.ts',
];

test('executor and delivery work under the role of docs/events.md', async () => {
  const { passed, failed, failures } = await runNested(SHARE, { [ROLE_VARIABLE]: 'application' });
  expect(failed, failures).toBe(0);
  expect(passed).toBeGreaterThan(10);
}, 300_000);
