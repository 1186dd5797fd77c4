import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import type { DataSourceConfig, ShardingTopology } from '../config/types.js';
import { openDatabases } from '../databases.js';
import { ShardedId } from '../domain/id.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { Account } from '../domain/test-support/account.js';
import { ReloadRefusedError, UnknownShardError } from '../errors.js';
import type { DatabaseRegistry } from './database-registry.js';
import { type DriverFailure, ShardRemovedFailure } from './driver-failure.js';
import { Placement } from './placement.js';
import { publicError } from './public-error.js';
import type { ShardDatabase } from './shard-database.js';
import { type Change, changedMembers, primaryOf, withPrimary } from './test-support/changed-topology.js';
import { describeChange } from './topology-changes.js';
import { requireConnection } from './topology-reload.js';

const FIVE = [
  ShardIdentifier.of(0, 0),
  ShardIdentifier.of(0, 1),
  ShardIdentifier.of(1, 0),
  ShardIdentifier.of(1, 1),
  ShardIdentifier.of(1, 2),
];
const [first, second, third] = FIVE as [ShardIdentifier, ShardIdentifier, ShardIdentifier];
const counters = { name: '0001_counters', up: 'create table counters (number int4 primary key)' };

const changed = (topology: ShardingTopology, shard: ShardIdentifier, change: Change): ShardingTopology =>
  changedMembers(topology, (member) => (member.shard === shard ? change(member) : member));

const without = (topology: ShardingTopology, shard: ShardIdentifier): ShardingTopology =>
  changedMembers(topology, (member) => (member.shard === shard ? undefined : member));

/** The URL of the first shard at a port at which no server listens. */
function urlOfNobody(topology: ShardingTopology): DataSourceConfig['url'] {
  const { url } = primaryOf(topology, first);
  if (url.kind !== 'postgresql') throw new Error('A server');
  return { ...url, port: 1 };
}

describeOn('postgresql', 'Another topology', (harness) => {
  const five = () => harness.makeTopology({ shards: FIVE, migrations: [counters] });
  const using = async (
    topology: ShardingTopology,
    work: (databases: DatabaseRegistry) => Promise<void>,
  ): Promise<void> => {
    const databases = openDatabases(topology);
    await work(databases).finally(() => databases.close(0));
  };
  const run = (databases: DatabaseRegistry, shard: ShardIdentifier, text: string) =>
    databases.database(shard).query({ text, values: [] });
  const setReadOnly = async (databases: DatabaseRegistry, shard: ShardIdentifier): Promise<void> => {
    const format = `format('alter database %I set default_transaction_read_only = on', current_database())`;
    await run(databases, shard, `do $$ begin execute ${format}; end $$`);
  };

  it('prepares an added shard before it serves, and gives a member that drains no new id', async () => {
    const topology = await five();
    await using(without(topology, third), async (databases) => {
      const prepared: string[] = [];
      const prepare = async ({ shard }: ShardDatabase) => void prepared.push(shard.toString());
      await databases.reload(topology, { prepare });
      expect(prepared).toEqual(['(1, 0)']);
      await databases.reload(changed(topology, third, (member) => ({ ...member, draining: true })));
      const placed = new Placement(databases).choose(1, { kind: 'fixed', member: 0 });
      await expect(placed).rejects.toThrow('it is draining');
    });
  });

  it('with a wrong password is refused, and calls continue on the old pool', async () => {
    const topology = await five();
    await using(topology, async (databases) => {
      await run(databases, first, 'select 1');
      const wrong = changed(topology, first, withPrimary({ password: { reveal: () => 'another' } }));
      const reload = databases.reload(wrong);
      await expect(reload).rejects.toThrow(ReloadRefusedError);
      await expect(reload).rejects.toThrow('the new connection settings of shard (0, 0) do not work');
      const refused: unknown = await reload.catch((error: unknown) => error);
      expect(refused).toMatchObject({ mayPass: true, cause: { sqlState: '28P01' } });
      // No statement was refused, because there was no connection.
      const failure = (refused as ReloadRefusedError).cause as DriverFailure;
      expect(publicError(failure, first)).toMatchObject({ code: 'FW_SHARD_UNAVAILABLE' });
      await run(databases, first, 'select 1');
      const right = changed(topology, first, withPrimary({ maximumPoolSize: 2 }));
      expect(await databases.reload(right)).toHaveLength(1);
      await run(databases, first, 'select 1');
    });
  });

  it('with settings of a shard that is out of reach takes effect, unless its pool is connected', async () => {
    const topology = await five();
    const unreachable = { connectTimeoutMs: 500, url: urlOfNobody(topology) };
    await using(changed(topology, second, withPrimary(unreachable)), async (databases) => {
      const resized = withPrimary({ ...unreachable, maximumPoolSize: 2 });
      expect(await databases.reload(changed(topology, second, resized))).toHaveLength(1);
    });
    const connected = { open: 1, idle: 1, waiting: 0 };
    const unopened = (): ShardDatabase =>
      openDatabases(changed(topology, second, withPrimary(unreachable))).database(second);
    await expect(requireConnection(second, unopened, connected)).rejects.toMatchObject({ mayPass: true });
  });

  it('with another replica, or none, applies to the next read', async () => {
    const topology = await five();
    const replicated = (by: ShardIdentifier): ShardingTopology =>
      changed(topology, first, (member) => ({ ...member, secondary: primaryOf(topology, by) }));
    const asked = async (databases: DatabaseRegistry): Promise<unknown> => {
      const text = 'select group_number * 10 + member_number from eventlog.shard';
      return (await databases.replica(first)?.query({ text, values: [] }))?.rows[0]?.[0];
    };
    await using(replicated(second), async (databases) => {
      expect(await asked(databases)).toBe(1);
      expect((await databases.reload(replicated(third))).map(describeChange)).toEqual([
        'shard (0, 0): replica changed',
      ]);
      expect(await asked(databases)).toBe(10);
      await databases.reload(topology);
      expect(databases.replica(first)).toBeUndefined();
    });
  });

  it('is refused if it is unsafe, and the old topology stays', async () => {
    const topology = await five();
    const [a, b] = [primaryOf(topology, first), primaryOf(topology, second)];
    const elsewhere = ShardIdentifier.of(5, 5);
    const stranger = primaryOf(await harness.makeTopology({ shards: [elsewhere] }), elsewhere);
    const copy = primaryOf(await harness.makeTopology({ shards: [second] }), second);
    await using(topology, async (databases) => {
      await run(databases, third, 'insert into counters values (1)');
      const refused = async (next: ShardingTopology, reason: string): Promise<void> => {
        const reload = databases.reload(next);
        await expect(reload).rejects.toThrow(ReloadRefusedError);
        await expect(reload).rejects.toThrow(reason);
      };
      const moved = changed(topology, first, withPrimary({ url: b.url }));
      const swapped = changed(moved, second, withPrimary({ url: a.url }));
      await refused(swapped, 'the new database of shard (0, 0) is that of shard (0, 1)');
      await refused(without(topology, third), 'shard (1, 0) still holds rows');
      await refused({ ...topology, defaultShard: third }, 'the default shard holds');
      const secondAt = ({ url }: DataSourceConfig) => changed(topology, second, withPrimary({ url }));
      await refused(secondAt(stranger), 'is shard (5, 5), not (0, 1)');
      await refused(secondAt(copy), 'still accepts writes');
      for (const shard of FIVE) await run(databases, shard, 'select 1');
      expect(await databases.reload(topology)).toEqual([]);
    });
  });

  it('takes effect later if it was refused after the server of another shard was switched', async () => {
    const topology = await five();
    const wanted = async (shard: ShardIdentifier): Promise<DataSourceConfig['url']> =>
      primaryOf(await harness.makeTopology({ shards: [shard], migrations: [counters] }), shard).url;
    const one = changed(topology, first, withPrimary({ url: await wanted(first) }));
    const both = changed(one, second, withPrimary({ url: await wanted(second) }));
    await using(topology, async (databases) => {
      await setReadOnly(databases, first);
      await expect(databases.reload(both)).rejects.toThrow('still accepts writes');
      await run(databases, first, 'insert into counters values (1)');
      // The operator makes up for what was missing, and requests the same topology again.
      await setReadOnly(databases, second);
      expect((await databases.reload(both)).map(describeChange)).toEqual([
        'shard (0, 1) moved to another server or database',
      ]);
      for (const shard of [first, second]) await run(databases, shard, 'insert into counters values (2)');
      expect(await databases.reload(both)).toEqual([]);
    });
  });

  it('without an empty shard is refused if a write in progress gives it a row', async () => {
    const dataSource = { lockTimeoutMs: 10_000 };
    const topology = await harness.makeTopology({ shards: FIVE, migrations: [counters], dataSource });
    const session = await harness.open(topology).database(third).acquire();
    await session.query({ text: 'begin', values: [] });
    await session.query({ text: 'lock table counters in share mode', values: [] });
    await using(topology, async (databases) => {
      const written = run(databases, third, 'insert into counters values (1)');
      await new Promise((resolve) => setTimeout(resolve, 100));
      const end = databases.reload(without(topology, third)).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 200));
      const later = run(databases, third, 'insert into counters values (2)');
      await session.query({ text: 'commit', values: [] });
      expect((await written).rowCount).toBe(1);
      expect(await end).toMatchObject({ message: expect.stringContaining('shard (1, 0) still holds rows') });
      expect((await later).rowCount).toBe(1);
    });
    session.release();
  });

  it('without an empty shard refuses the calls that were held back until it was gone', async () => {
    const dataSource = { lockTimeoutMs: 60_000, statementTimeoutMs: 60_000 };
    const topology = await harness.makeTopology({ shards: FIVE, migrations: [counters], dataSource });
    const session = await harness.open(topology).database(third).acquire();
    await session.query({ text: 'select pg_advisory_lock(7)', values: [] });
    await using(topology, async (databases) => {
      const running = run(databases, third, 'select pg_advisory_xact_lock(7)');
      const end = databases.reload(without(topology, third), { patienceMs: 60_000 });
      const call = () => run(databases, third, 'select 1').catch((error: unknown) => error);
      const HELD = Symbol('held');
      let held = call();
      while ((await Promise.race([held, sleep(1_000, HELD)])) !== HELD) held = call();
      await session.query({ text: 'select pg_advisory_unlock(7)', values: [] });
      await Promise.all([running, end]);
      expect(await held).toBeInstanceOf(ShardRemovedFailure);
    });
    session.release();
  });

  it('without an empty shard removes it: its ids are refused afterwards', async () => {
    const topology = await five();
    await using(topology, async (databases) => {
      // The step of another shard's saga has an id of this shard.
      const step = ShardedId.generate(Account, third).getValue();
      await run(
        databases,
        third,
        `insert into eventlog.saga_steps (id, state, version, saga_id, step_number, step, created_date, updated_date)
         values ('${step}', 'DONE', 1, '${step}', 1, 'charge', now(), now())`,
      );
      await expect(databases.reload(without(topology, third))).rejects.toThrow('still holds rows');
      await run(databases, third, 'delete from eventlog.saga_steps');
      // A model's table may be in another schema.
      await run(databases, third, 'create schema app');
      await run(databases, third, 'create table app.accounts as select 1 as id');
      await expect(databases.reload(without(topology, third))).rejects.toThrow('still holds rows');
      await run(databases, third, 'delete from app.accounts');
      await databases.reload(without(topology, third));
      expect(databases.has(third)).toBe(false);
      expect(() => databases.database(third)).toThrow(UnknownShardError);
    });
  });
});
