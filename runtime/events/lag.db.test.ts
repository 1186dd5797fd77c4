import { expect, test } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { HERE } from '../execution/test-support/accounts.js';
import { readLag } from './lag.js';
import { interceptedDatabase } from './test-support/faulty-databases.js';
import { handlerOf, ledgerMigrations, until } from './test-support/ledger.js';
import { testLedger } from './test-support/test-ledger.js';

const ROWS = 60_000;
const ID = "overlay(id::text placing lpad(nr::text, 12, '0') from 25)::uuid";

describeOn('postgresql', 'The lag', (harness) => {
  test('is read without the events that are handled and the scheduled actions that are done', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const { events, rows, ...ledger } = testLedger(databases, { handlers: [handlerOf('Mirror', () => {})] });
    const account = await ledger.open();
    await ledger.credit(account);
    await ledger.creditLater(account, 1, new Date(0));
    await rows(`INSERT INTO eventlog.events
        (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)
      SELECT ${ID}, id, namespace, model_id, model_name, 'Other', payload, created_date, nr
      FROM eventlog.events, generate_series(1, ${ROWS}) AS nr`);
    await rows(`INSERT INTO eventlog.schedules
        (id, state, due_date, next_date, action_name, params, principal, action_id, created_date)
      SELECT ${ID}, 'done', due_date, due_date, action_name, params, principal, id, created_date
      FROM eventlog.schedules, generate_series(1, ${ROWS}) AS nr`);
    await rows('ANALYZE eventlog.events, eventlog.schedules');
    events.start();
    await until(async () => (await events.lag())[0]?.consumers[0]?.behind === 0);
    const texts: string[] = [];
    const watched = interceptedDatabase(databases.database(HERE), (call, text) => {
      texts.push(text);
      return call();
    });
    await readLag(watched);
    const plans = await Promise.all(texts.map((text) => rows(`EXPLAIN (ANALYZE, TIMING OFF) ${text}`)));
    const lines = plans.flat(2).map(String);
    const counts = lines.flatMap((line) => [
      ...line.matchAll(/(?:actual rows=|Rows Removed by \w+(?: \w+)*: )(\d+)/g),
    ]);
    expect(counts.length).toBeGreaterThan(5);
    expect(Math.max(...counts.map(([, count]) => Number(count)))).toBeLessThan(ROWS / 10);
  });
});
