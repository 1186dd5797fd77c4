import { expect, test } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { EventOperations } from '../events/event-operations.js';
import { databasesWithout } from '../events/test-support/faulty-databases.js';
import { ledgerMigrations, openLedger, until } from '../events/test-support/ledger.js';
import { HERE, THERE } from '../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import type { Relay } from './relay.js';
import { type CollectingSink, collectingSink } from './test-support/collecting-sink.js';
import { testRelay } from './test-support/test-relay.js';

/** A process waits this long for one that has taken its place. */
const SHORT = { leaseMs: 1_000 };

function relayTo(
  databases: DatabaseRegistry,
  { definition }: CollectingSink,
  warn: (message: string) => void = () => {},
  limits: { readonly leaseMs?: number } = {},
): Relay {
  return testRelay(databases, definition, { limits: { surveyMs: 50, ...limits }, warn });
}

function sequences(sink: CollectingSink): readonly number[] {
  return sink.received.map(({ body }) => Number((JSON.parse(body) as { sequence: string }).sequence));
}

describeOnEachAdapter('A sink whose configuration changes', (harness) => {
  test('keeps its checkpoint when its filter changes, and when it is removed for a while', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const ledger = openLedger(databases);
    const operations = new EventOperations(databases);
    const state = async (name: string): Promise<object | undefined> =>
      (await operations.lag(HERE))[0]?.consumers.find((each) => each.name === `relay:${name}`);
    const account = await ledger.open();
    await ledger.credit(account);
    const narrow = collectingSink({ models: ['Other'] });
    const filtered = relayTo(databases, narrow);
    await until(async () => (await state('collect')) !== undefined);
    await until(async () => (await operations.lag(HERE))[0]?.consumers[0]?.behind === 0);
    await filtered.stop();
    await ledger.credit(account);
    const wide = collectingSink();
    const widened = relayTo(databases, wide);
    await until(() => wide.received.length > 0);
    expect(narrow.received).toEqual([]);
    expect(sequences(wide)).toEqual([3]);
    await widened.stop();
    const other = collectingSink({ name: 'other' });
    const without = relayTo(databases, other);
    await ledger.credit(account);
    await until(() => other.received.length === 3);
    expect(await state('collect')).toMatchObject({ behind: 1, holder: undefined });
    await without.stop();
    const back = collectingSink();
    relayTo(databases, back);
    await until(() => back.received.length > 0);
    expect(sequences(back)).toEqual([4]);
  });

  test('leaves the checkpoint to a process whose filter selects more, until the selection is narrowed', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const ledger = openLedger(databases);
    const operations = new EventOperations(databases);
    const lag = async () => (await operations.lag(HERE))[0]?.consumers[0];
    const account = await ledger.open();
    const narrow = relayTo(databases, collectingSink({ models: ['Other'] }), undefined, SHORT);
    await until(async () => (await lag())?.holder !== undefined);
    const wide = collectingSink();
    const widened = relayTo(databases, wide, undefined, SHORT);
    const stored = "SELECT 'model:*' = ANY (selects) FROM eventlog.consumers";
    await until(async () => (await ledger.rows(stored))[0]?.[0] === true);
    await ledger.credit(account);
    await until(() => wide.received.length === 1);
    await widened.stop();
    await ledger.credit(account);
    await until(async () => (await lag())?.waitingFor?.includes('model:*') === true);
    expect(await lag()).toMatchObject({ behind: 1 });
    expect(await operations.narrow('relay:collect', 'model:*')).toBe(1);
    await until(async () => (await lag())?.behind === 0);
    await narrow.stop();
  });

  test('continues under another name with the former one among its aliases, and does not repeat', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const ledger = openLedger(databases);
    const account = await ledger.open();
    await ledger.credit(account);
    const former = collectingSink();
    const relay = relayTo(databases, former);
    await until(() => former.received.length === 1);
    await relay.stop();
    await ledger.credit(account);
    const renamed = collectingSink({ name: 'gather', aliases: ['collect'] });
    await relayTo(databases, renamed).stop(0);
    relayTo(databases, renamed);
    await until(() => renamed.received.length > 0);
    expect([sequences(former), sequences(renamed)]).toEqual([[2], [3]]);
    const lag = await new EventOperations(databases).lag(HERE);
    expect(lag[0]?.consumers.map(({ name }) => name)).toEqual(['relay:gather']);
  });
});

describeOn('postgresql', 'Relays of several processes', (harness) => {
  test('send each event once, and one continues where another has stopped', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    const sinks = [collectingSink(), collectingSink()] as const;
    const relays = sinks.map((sink) => relayTo(harness.open(topology), sink));
    const ledger = openLedger(harness.open(topology));
    const accounts = [await ledger.open(HERE), await ledger.open(THERE)];
    const credit = (): Promise<unknown> => Promise.all(accounts.map((id) => ledger.credit(id)));
    const ids = (): readonly string[] => sinks.flatMap(({ received }) => received.map(({ id }) => id));
    for (let round = 0; round < 10; round += 1) await credit();
    await until(() => ids().length >= 20);
    await relays[0]?.stop();
    await credit();
    await until(() => ids().length >= 22);
    expect(new Set(ids()).size).toBe(22);
    expect(ids()).toHaveLength(22);
  });

  test('send the events of other shards while one is unreachable, and its events afterwards', async () => {
    const topology = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    let down = true;
    const databases = harness.keep(databasesWithout(topology, THERE, () => down));
    const sink = collectingSink();
    const warnings: string[] = [];
    relayTo(databases, sink, (message) => warnings.push(message));
    const ledger = openLedger(harness.open(topology));
    const [here, there] = [await ledger.open(HERE), await ledger.open(THERE)];
    for (const id of [here, there, here, there]) await ledger.credit(id);
    await until(() => sink.received.length === 2);
    expect(sink.received.map(({ key }) => key)).toEqual([here, here]);
    expect(warnings).toEqual(['Delivery on shard (1, 0): connect ECONNREFUSED']);
    down = false;
    await until(() => sink.received.length === 4);
    expect(sink.received.slice(2).map(({ key }) => key)).toEqual([there, there]);
    expect(warnings.slice(1)).toEqual(['Delivery on shard (1, 0) works again']);
  });
});
