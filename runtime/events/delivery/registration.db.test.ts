import { afterEach, expect, onTestFinished, test } from 'vitest';
import { StallingProxy } from '../../../test/databases/proxy.js';
import { rowsAsOwner } from '../../../test/databases/roles.js';
import { startPostgres } from '../../../test/databases/server.js';
import { startReplicated } from '../../../test/databases/standby.js';
import { prepareServer } from '../../../test/databases/template.js';
import { serverUrl, testDataSource, topologyOf } from '../../../test/databases/topology.js';
import { describeOn } from '../../../test/databases/vitest.js';
import { type Application, openApplication } from '../../application.js';
import type { ApplicationDefinition } from '../../application-definition.js';
import type { ShardingTopology } from '../../config/types.js';
import { Decimal } from '../../domain/decimal.js';
import type { EventDescriptor } from '../../domain/descriptor.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ShardUnavailableError } from '../../errors.js';
import {
  ALICE,
  accountApplication,
  accountMigrations,
  CreditAction,
  HERE,
  OpenAction,
  THERE,
} from '../../execution/test-support/accounts.js';
import { creditedEvent, until } from '../test-support/ledger.js';
import { registerConsumer } from './register-consumers.js';

const openedEvent: EventDescriptor = { ...creditedEvent, name: 'AccountOpened' };
const open: Application[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((application) => application.close()));
});

interface ReleaseOptions {
  /** Of its handler. Default: Statistics. */
  readonly name?: string;
  readonly aliases?: readonly string[];
  readonly deliver?: boolean;
}

/** A release whose handler selects these events. */
async function release(
  sharding: ShardingTopology,
  events: readonly EventDescriptor[],
  { name = 'Statistics', aliases = [], ...options }: ReleaseOptions = {},
): Promise<Application & { readonly seen: string[] }> {
  const seen: string[] = [];
  const handler = {
    name,
    aliases,
    events,
    create: () => ({ handle: ({ id }: { id: string }) => void seen.push(id) }),
  };
  const definition: ApplicationDefinition = { ...accountApplication, wireHandlers: () => [handler] };
  const delivery = { leaseMs: 2_000, surveyMs: 50 };
  const application = await openApplication(definition, {
    namespace: 'test',
    collaborators: {},
    sharding,
    delivery,
    warn: () => {},
    ...options,
  });
  open.push(application);
  return { ...application, seen };
}

async function deposit({ executor }: Application, shard: ShardIdentifier): Promise<void> {
  const { id } = await executor.execute(ALICE, OpenAction, { shard, balance: new Decimal(0) });
  await executor.execute(ALICE, CreditAction, { account: id.getValue(), amount: new Decimal(1) });
}

async function behind({ events }: Application, shard: ShardIdentifier): Promise<number | undefined> {
  return (await events.lag(shard))[0]?.consumers.find(({ name }) => name === 'Statistics')?.behind;
}

async function holderOf({ events }: Application, shard: ShardIdentifier): Promise<string | undefined> {
  return (await events.lag(shard))[0]?.consumers.find(({ name }) => name === 'Statistics')?.holder;
}

describeOn('postgresql', 'A handler that a newer release has renamed', (harness) => {
  test('runs in the previous release again once no process of the newer one is left', async () => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: accountMigrations });
    const earlier = await release(topology, [creditedEvent]);
    const rename = { name: 'Counts', aliases: ['Statistics'] };
    const newer = await release(topology, [creditedEvent], rename);
    const handles = async (process: typeof newer): Promise<void> => {
      const before = process.seen.length;
      await deposit(process, HERE);
      await until(() => process.seen.length === before + 1);
    };
    await handles(newer);
    await newer.events.stop();
    await handles(earlier);
    const again = await release(topology, [creditedEvent], rename);
    await handles(again);
    await earlier.events.stop();
    await handles(again);
    expect(new Set([...newer.seen, ...earlier.seen, ...again.seen]).size).toBe(4);
  });
});

describeOn('postgresql', 'What the handlers of a release select', (harness) => {
  test('that is new ends the runs of processes that do not select it', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: accountMigrations });
    const database = databases.database(HERE);
    const stored: unknown[] = [];
    for (const selects of [['event:A'], ['event:B'], ['event:A']]) {
      await registerConsumer(database, { name: 'Plain', kind: 'live', selects });
      const text = "SELECT selects, fence::int FROM eventlog.consumers WHERE name = 'Plain'";
      stored.push(...(await database.query({ text, values: [] })).rows);
    }
    expect(stored).toEqual([
      [['event:A'], 0],
      [['event:A', 'event:B'], 1],
      [['event:A', 'event:B'], 1],
    ]);
  });

  test('is stored before its first write, so that an earlier release passes over none of its events', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: accountMigrations });
    const earlier = await release(topology, [openedEvent]);
    await until(async () => (await behind(earlier, HERE)) === 0);
    const writer = await release(topology, [openedEvent, creditedEvent], { deliver: false });
    for (const shard of [HERE, THERE]) await deposit(writer, shard);
    const waitsOn = async (shard: ShardIdentifier) =>
      (await earlier.events.lag(shard))[0]?.consumers[0]?.waitingFor;
    for (const shard of [HERE, THERE])
      await until(async () => (await waitsOn(shard))?.includes('event:AccountCredited') === true);
    const later = await release(topology, [openedEvent, creditedEvent]);
    await until(() => later.seen.length === 2);
    expect(earlier.seen).toEqual([]);
  });

  test('is stored on a shard that a reload adds, before it is in service', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: accountMigrations });
    const earlier = await release(topology, [openedEvent]);
    await until(async () => (await behind(earlier, THERE)) === 0);
    const writer = await release(
      { ...topology, groups: topology.groups.slice(0, 1) },
      [openedEvent, creditedEvent],
      {
        deliver: false,
      },
    );
    await writer.reload(topology);
    await deposit(writer, THERE);
    const later = await release(topology, [openedEvent, creditedEvent]);
    await until(() => later.seen.length === 1);
  });

  test('is stored before a shard is in service, while the others serve', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: accountMigrations });
    const earlier = await release(topology, [openedEvent]);
    await until(async () => (await behind(earlier, THERE)) === 0);
    await rowsAsOwner(earlier.databases, THERE, 'ALTER TABLE eventlog.consumers RENAME TO consumers_gone');
    const later = await release(topology, [openedEvent, creditedEvent]);
    await deposit(later, HERE);
    expect(later.databases.withheld(THERE)).toContain('consumers');
    await expect(deposit(later, THERE)).rejects.toThrow(ShardUnavailableError);
    await rowsAsOwner(earlier.databases, THERE, 'ALTER TABLE eventlog.consumers_gone RENAME TO consumers');
    await until(() => later.databases.withheld(THERE) === undefined);
    await deposit(later, THERE);
    await until(() => later.seen.length === 2);
  });

  test('is stored on a shard that was down at the start, once it is up', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.destroy());
    const [known] = (await harness.makeTopology({ shards: [HERE], migrations: accountMigrations })).groups;
    const primary = known?.members[0]?.primary;
    if (primary === undefined) throw new Error('A database');
    const topology = topologyOf([
      [HERE, primary],
      [THERE, testDataSource(serverUrl(server, server.database), server)],
    ]);
    const earlier = await release(topology, [openedEvent]);
    await until(async () => (await behind(earlier, THERE)) === 0);
    await server.stop();
    const writer = await release(topology, [openedEvent, creditedEvent], { deliver: false });
    await deposit(writer, HERE);
    await expect(deposit(writer, THERE)).rejects.toThrow(ShardUnavailableError);
    await server.start();
    await until(() => writer.databases.withheld(THERE) === undefined);
    await deposit(writer, THERE);
    const later = await release(topology, [openedEvent, creditedEvent]);
    await until(() => later.seen.length === 2);
  });

  test.each(['writes only', 'delivers only'])(
    'is stored again after a failover that has lost it, by a process that %s',
    async (does) => {
      const servers = await startReplicated('asynchronous');
      const { primary, standby } = servers;
      const clients = await StallingProxy.start(primary);
      onTestFinished(async () => {
        await clients.stop();
        await servers.destroy();
      });
      const user = await prepareServer(primary, HERE, accountMigrations);
      const url = serverUrl({ ...primary, port: clients.port }, primary.database);
      const topology = topologyOf([[HERE, testDataSource(url, user)]]);
      const earlier = await release(topology, [openedEvent], { deliver: false });
      await servers.untilReplicated();
      await servers.detach();
      await release(topology, [openedEvent, creditedEvent], { deliver: does === 'delivers only' });
      const writer = open.at(-1);
      await until(async () => does === 'writes only' || (await holderOf(earlier, HERE)) !== undefined);
      await servers.failOver();
      clients.lead(standby);
      clients.cut();
      const selects = (): Promise<readonly unknown[]> =>
        earlier.databases
          .database(HERE)
          .query({ text: "SELECT selects FROM eventlog.consumers WHERE name = 'Statistics'", values: [] })
          .then(
            ({ rows }) => rows[0]?.[0] as readonly unknown[],
            () => [],
          );
      await until(async () => {
        if (does === 'writes only' && writer !== undefined) await deposit(writer, HERE).catch(() => {});
        return (await selects()).includes('event:AccountCredited');
      });
    },
  );
});
