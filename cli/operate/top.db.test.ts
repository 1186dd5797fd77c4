import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { handlerOf, ledgerMigrations, openLedger, until } from '../../runtime/events/test-support/ledger.js';
import { HERE, THERE } from '../../runtime/execution/test-support/accounts.js';
import { idOn, insertSaga } from '../../runtime/sharding/test-support/failovers.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject } from '../test-support/cli-project.js';
import type { Ran } from '../test-support/run-command.js';

const project = cliProject();

const top = (...argv: readonly string[]): Promise<Ran> => project.run('top', ...argv);

describeOn('postgresql', 'fw-gen top', (harness) => {
  test('shows shards and handlers, and goes on if one shard does not answer', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    project.configure(topology);
    const ledger = openLedger(project.databases(), { handlers: [handlerOf('Mirror', () => {})] });
    await ledger.credit(await ledger.open(HERE));
    ledger.events.start();
    await until(async () => (await ledger.events.lag())[0]?.consumers[0]?.behind === 0);
    await ledger.events.stop();
    await ledger.creditLater(await ledger.open(THERE), 5, new Date());
    await insertSaga(ledger.databases.database(HERE), idOn(HERE), 'PARKED');
    const shown = await top('--once');
    expect(shown.code).toBe(0);
    expect(shown.info).toMatch(/SHARD +NAME +LOG BEHIND +DUE +FAILED +JOURNAL +STATE/);
    expect(shown.info).toMatch(/\(0, 0\) .* 0 +0 +0 +answers/);
    expect(shown.info).toMatch(new RegExp(`\\(${THERE.group}, ${THERE.member}\\) .* 1 +0 +0 +answers`));
    expect(shown.info).toMatch(/SHARD +SAGA +RUNNING +PARKED +OLDEST\n\(0, 0\) +PaymentSaga +0 +1 +60 min/);
    expect(shown.info).toMatch(/Mirror +0 .*no process/);
    project.edit((text) => text.replace(/:\d+\/fw_test/, ':1/fw_test'));
    const partial = await top('--once', '--format', 'json');
    expect(partial.code).toBe(1);
    expect((await top('--once')).info).toMatch(/\(0, 0\) +\S+ {20,}Shard \(0, 0\) is unavailable/);
    expect(JSON.parse(partial.info)).toMatchObject({
      shards: [{ shard: THERE.toString() }],
      failures: [{ shard: HERE.toString(), message: expect.stringMatching(/reach|connect/) }],
    });
  });
});

describe('fw-gen top on embedded databases', () => {
  const configure = (jdbcUrl: string): void => {
    const members = [{ member: 0, name: 'main', configs: { primaryConfig: { jdbcUrl } } }];
    const groups = [{ group: 0, name: 'group', members }];
    const sharding = { defaultShard: { group: 0, member: 0 }, groups };
    project.write('fw.config.yaml', JSON.stringify({ fw: { namespace: 'test', sharding } }));
  };

  test('never opens them, so that a server can start', async () => {
    const directory = join(project.folder, 'main');
    configure(`jdbc:pglite:file:${directory}`);
    const none = `No server has the embedded database in ${directory} open. Start the server, through which this command uses it.`;
    expect(await top('--once')).toEqual({ code: 1, info: '', error: expect.stringContaining(none) });
    const json = await top('--format', 'json');
    expect(json).toMatchObject({ code: 1, error: expect.stringContaining(none) });
    expect(JSON.parse(json.info)).toMatchObject({
      shards: [],
      failures: [{ message: expect.stringContaining(none) }],
    });
    expect(existsSync(directory)).toBe(false);
  });

  test('says that no other process can see a database in memory', async () => {
    configure('jdbc:pglite:mem:main');
    const { code, error } = await top('--once');
    expect(code).toBe(1);
    expect(error).toContain('Only the process that has opened a database in memory');
    expect(error).not.toContain('migrate up');
  });
});
