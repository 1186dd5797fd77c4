import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { handlerOf, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

const EVENTS = 6_000;

/** Copies the only event for many models. */
const COPIES = `INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, created_date,
  model_version)
SELECT overlay(id::text PLACING lpad(to_hex(n), 12, '0') FROM 25)::uuid, action_id, namespace, 'model ' || n, model_name,
  event_type, payload, created_date, model_version
FROM eventlog.events CROSS JOIN generate_series(1, ${EVENTS - 1}) AS n`;

describeOn('postgresql', 'A handler that returns at once', (harness) => {
  test('gets the events of thousands of models, although its lease expires in the middle of them', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const seen = new Set<string>();
    let blocked = false;
    const handler = handlerOf('Quick', ({ modelId }) => {
      seen.add(modelId);
      if (blocked || seen.size < 100) return;
      // The event loop is blocked for longer than the lease: this process renews nothing, and no other process takes
      // over.
      blocked = true;
      for (const untilMs = performance.now() + 1_500; performance.now() < untilMs; );
    });
    const ledger = testLedger(databases, { handlers: [handler], limits: { leaseMs: 1_000, surveyMs: 50 } });
    await ledger.credit(await ledger.open());
    await ledger.rows(COPIES);
    ledger.events.start();
    await until(() => seen.size === EVENTS);
    expect(blocked).toBe(true);
    await until(async () => (await ledger.events.lag())[0]?.consumers[0]?.behind === 0);
    expect(await ledger.events.deadLetters.list()).toEqual([]);
  }, 120_000);
});
