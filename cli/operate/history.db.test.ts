import { expect, test } from 'vitest';
import { ledgerMigrations, openLedger } from '../../runtime/events/test-support/ledger.js';
import { HERE, THERE } from '../../runtime/execution/test-support/accounts.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';
import type { Ran } from '../test-support/run-command.js';

const project = cliProject();

const history = (...argv: readonly string[]): Promise<Ran> => project.run('history', ...argv);

describeOn('postgresql', 'fw-gen history', (harness) => {
  test('shows each version of a model with its event, action and principal, on the shard of its id', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    project.configure(topology);
    const ledger = openLedger(project.databases());
    const account = await ledger.open(THERE);
    await ledger.credit(account, 5);
    const [stored] = await ledger.rows('select max(created_date)::text from eventlog.events', THERE);
    await ledger.rows(
      "update eventlog.events set event_version = 2, created_date = date_trunc('second', created_date) - interval '59.877 seconds'",
      THERE,
    );
    await ledger.credit(account, 7);
    const { code, info } = await history(account);
    expect(code).toBe(0);
    expect(info).toMatch(/VERSION +DATE +EVENT +CHANGE +ACTION +PRINCIPAL/);
    expect(info).toMatch(/2 +\S+Z +AccountCredited +\{"amount":"5"\} +Credit +alice\n.*3 .*"7"/s);
    const time = new Date(Date.parse(String(stored?.[0])) - 30_000).toISOString();
    const before = await history(account, '--at', time, '--format', 'json');
    expect(JSON.parse(before.info)).toMatchObject({
      events: [
        {
          modelVersion: 2,
          eventVersion: 2,
          payload: { amount: '5' },
          date: expect.stringMatching(/T\d\d:\d\d:\d\d\.123Z$/),
        },
      ],
    });
    const last = await history(account, '--limit', '1', '--format', 'json');
    expect(JSON.parse(last.info)).toMatchObject({ events: [{ modelVersion: 3, actionName: 'Credit' }] });
    await ledger.rows('delete from eventlog.actions', THERE);
    expect((await history(account)).info).toMatch(/AccountCredited +\{"amount":"5"\} +[0-9a-f-]{36}/);
    const unknown = '0190f5c2-7f3a-4b1c-8000-3f0c5ad1b2e4';
    expect((await history(unknown)).info).toContain(`There are no events of ${unknown}.`);
    expect(await history('no-id')).toMatchObject({ code: 2, error: 'Not a UUID: "no-id"' });
    expect(await history(account, '--at', 'yesterday')).toMatchObject({
      code: 2,
      error: expect.stringContaining('Expected a date, or a time with its zone'),
    });
  });
});
