import { expect, test } from 'vitest';
import { openDatabases } from '../../runtime/databases.js';
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
    const databases = openDatabases(topology);
    const ledger = openLedger(databases, { handlers: [handlerOf('Mirror', () => {})] });
    await ledger.credit(await ledger.open(HERE));
    ledger.events.start();
    await until(async () => (await ledger.events.lag())[0]?.consumers[0]?.behind === 0);
    await ledger.events.stop();
    await ledger.creditLater(await ledger.open(THERE), 5, new Date());
    await insertSaga(databases.database(HERE), idOn(HERE), 'PARKED');
    const shown = await top('--once');
    expect(shown.code).toBe(0);
    expect(shown.info).toMatch(/SHARD +NAME +LOG BEHIND +DUE +FAILED +JOURNAL +STATE/);
    expect(shown.info).toMatch(/\(0, 0\) .* 0 +0 +0 +answers/);
    expect(shown.info).toMatch(new RegExp(`\\(${THERE.group}, ${THERE.member}\\) .* 1 +0 +0 +answers`));
    expect(shown.info).toMatch(/SHARD +SAGA +RUNNING +PARKED +OLDEST\n\(0, 0\) +PaymentSaga +0 +1 +60 min/);
    expect(shown.info).toMatch(/Mirror +0 .*no process/);
    await databases.close(0);
    project.edit((text) => text.replace(/:\d+\/fw_test/, ':1/fw_test'));
    const partial = await top('--once', '--format', 'json');
    expect(partial.code).toBe(1);
    expect(JSON.parse(partial.info)).toMatchObject({
      shards: [{ shard: THERE.toString() }],
      failed: [{ shard: HERE.toString(), value: expect.stringMatching(/reach|connect/) }],
    });
  });
});
