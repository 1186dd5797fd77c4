import { afterEach, expect, it, onTestFinished } from 'vitest';
import { describeOn } from '../test/databases/vitest.js';
import { type Application, openApplication } from './application.js';
import type { ShardingTopology } from './config/types.js';
import { openDatabases } from './databases.js';
import { examine } from './doctor/examine.js';
import { Decimal } from './domain/decimal.js';
import { ShardedId } from './domain/id.js';
import { ShardIdentifier } from './domain/shard-identifier.js';
import { newAccount } from './domain/test-support/account.js';
import { ModelNotFoundError, ReloadRefusedError, UnknownShardError } from './errors.js';
import {
  ALICE,
  accountApplication,
  accountMigrations,
  CreditAction,
  OpenAction,
} from './execution/test-support/accounts.js';
import { emptyApplication } from './http/test-support/empty-application.js';
import { migrate } from './migration/migrate.js';

const application = {
  ...emptyApplication,
  migrations: [{ name: '0001_things', up: 'create table things (id uuid)' }],
};
const first = ShardIdentifier.of(0, 0);
const added = ShardIdentifier.of(1, 0);

describeOn('postgresql', 'A shard that a reload adds', (harness) => {
  let running: Application | undefined;
  afterEach(() => running?.close());

  const opened = async (migrateAtStart: boolean) => {
    const { migrations } = application;
    const start = await harness.makeTopology({ shards: [first], migrations });
    const fresh = await harness.makeTopology({ shards: [added], migrated: false });
    const sharding: ShardingTopology = { ...start, groups: [...start.groups, ...fresh.groups] };
    const options = { namespace: 'test', collaborators: {}, sharding: start, migrateAtStart };
    running = await openApplication(application, options);
    return { running, sharding };
  };
  const text = "select to_regclass('things') is not null";

  it('is migrated before it is in service', async () => {
    const { running, sharding } = await opened(true);
    expect(await running.reload(sharding)).toEqual([{ kind: 'shard-added', shard: added }]);
    const { rows } = await running.databases.database(added).query({ text, values: [] });
    expect(rows).toEqual([[true]]);
    const stored = { text: 'select group_number, member_number from eventlog.default_shard', values: [] };
    expect((await running.databases.database(added).query(stored)).rows).toEqual([[0, 0]]);
  });

  it('is not migrated where migrations run separately, and refused until they are applied', async () => {
    const { running, sharding } = await opened(false);
    const reload = running.reload(sharding);
    await expect(reload).rejects.toThrow(ReloadRefusedError);
    await expect(reload).rejects.toThrow('is no shard yet, not (1, 0)');
    expect(running.databases.has(added)).toBe(false);
    const owner = openDatabases({ ...sharding, groups: sharding.groups.slice(1) });
    await migrate(owner, application).finally(() => owner.close(0));
    expect(await running.reload(sharding)).toEqual([{ kind: 'shard-added', shard: added }]);
  });
});

describeOn('postgresql', 'A shard that a reload removes and another one adds again', (harness) => {
  it('is unknown in between and serves afterwards, regardless of earlier use', async () => {
    const both = await harness.makeTopology({ shards: [first, added], migrations: accountMigrations });
    const without: ShardingTopology = { ...both, groups: both.groups.slice(0, 1) };
    const app = await openApplication(accountApplication, {
      namespace: 'test',
      collaborators: {},
      sharding: both,
    });
    const amount = new Decimal(1);
    const credit = (account: string) => app.executor.execute(ALICE, CreditAction, { account, amount });
    const history = (account: string) => app.eventHistory.of(ShardedId.named('Account', account));
    onTestFinished(() => app.close());
    const unknown = newAccount(amount, added).build().id.getValue();
    await expect(credit(unknown)).rejects.toThrow(ModelNotFoundError);
    expect((await history(unknown)).items).toEqual([]);
    const held = app.databases.database(added);

    await app.reload(without);
    await expect(credit(unknown)).rejects.toThrow(UnknownShardError);
    await expect(history(unknown)).rejects.toThrow(UnknownShardError);
    await expect(app.executor.execute(ALICE, OpenAction, { shard: added, balance: amount })).rejects.toThrow(
      UnknownShardError,
    );
    await expect(held.query({ text: 'select 1', values: [] })).rejects.toThrow('is no longer configured');

    await app.reload(both);
    await expect(credit(unknown)).rejects.toThrow(ModelNotFoundError);
    const { id } = await app.executor.execute(ALICE, OpenAction, { shard: added, balance: amount });
    expect((await credit(id.getValue())).balance.toString()).toBe('2');
    expect((await history(id.getValue())).items).toHaveLength(1);
  });
});

describeOn('postgresql', 'A shard that a file leaves out', (harness) => {
  it('is warned of at the start, and is a fault for the doctor, until a reload removes it', async () => {
    const both = await harness.makeTopology({ shards: [first, added], migrations: accountMigrations });
    const without: ShardingTopology = { ...both, groups: both.groups.slice(0, 1) };
    const warnings: string[] = [];
    const open = (sharding: ShardingTopology) =>
      openApplication(accountApplication, {
        namespace: 'test',
        collaborators: {},
        sharding,
        warn: (line) => void warnings.push(line),
      });
    await (await open(both)).close();
    expect(warnings).toEqual([]);
    const shorter = await open(without);
    try {
      const leftOut = `Shard ${added} was served before, and the configuration does not list it`;
      expect(warnings).toEqual([expect.stringContaining(leftOut)]);
      const findings = await examine(shorter.databases, { topology: without, application: undefined });
      expect(findings.filter(({ check }) => check === 'configured')).toEqual([
        expect.objectContaining({ subject: added.toString(), level: 'fault' }),
      ]);
    } finally {
      await shorter.close();
    }
    const full = await open(both);
    await full.reload(without).finally(() => full.close());
    const grown = await open(without);
    expect(warnings).toHaveLength(1);
    await grown.reload(both).finally(() => grown.close());
    await (await open(without)).close();
    expect(warnings).toHaveLength(2);
  });
});
