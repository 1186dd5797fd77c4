import { expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { ledgerMigrations } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';
import { START_OF_LOG } from './event-record.js';
import { LogReader } from './log-reader.js';

/** A text of 20 MB that the database cannot compress, and one of 80 MB that it can. */
const LARGE = `(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 640000) AS n)`;
const COMPRESSED = "repeat('x', 80000000)";

describeOnEachAdapter('A page of the log', (harness) => {
  test.each([
    ['large', LARGE],
    ['compressed', COMPRESSED],
  ])(
    'ends behind a %s payload that fills it, and the next one has the rest',
    async (_, text) => {
      const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
      const ledger = testLedger(databases);
      const account = await ledger.open();
      for (let credit = 0; credit < 3; credit += 1) await ledger.credit(account);
      await ledger.rows(
        `UPDATE eventlog.events SET payload = payload || jsonb_build_object('note', ${text}) WHERE model_version = 3`,
      );
      const reader = new LogReader(databases.database(HERE));
      const pages: (readonly number[])[] = [];
      for (let [after, more] = [START_OF_LOG, true]; more; ) {
        const page = await reader.read({ eventTypes: ['AccountCredited'] }, after, 1_000);
        pages.push(page.events.map(({ modelVersion }) => modelVersion));
        ({ next: after, more } = page);
      }
      expect(pages).toEqual([[2, 3], [4]]);
    },
    120_000,
  );
});
