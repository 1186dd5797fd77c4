import { expect, test } from 'vitest';
import type { DatabaseHarness } from '../../test/databases/databases.js';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { type Logger, SILENT } from '../domain/logger.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { EventOperations } from '../events/event-operations.js';
import { type Ledger, ledgerMigrations, openLedger, until } from '../events/test-support/ledger.js';
import { testLedger } from '../events/test-support/test-ledger.js';
import { HERE, THERE } from '../execution/test-support/accounts.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import type { RelayMessage, RelaySink } from './relay-sink.js';
import { sinkConsumers } from './sink-consumer.js';
import { type CollectingSink, collectingSink } from './test-support/collecting-sink.js';
import { testRelay } from './test-support/test-relay.js';

function databasesOf(harness: DatabaseHarness, shards = [HERE]): Promise<DatabaseRegistry> {
  return harness.makeShards({ shards, migrations: ledgerMigrations });
}

function serve(databases: DatabaseRegistry, sinks: readonly CollectingSink[]): Ledger {
  const warnings: string[] = [];
  const { consumers } = sinkConsumers(
    sinks.map(({ definition }) => definition),
    { warn: (message) => warnings.push(message) },
  );
  const ledger = testLedger(databases, { sinks: consumers });
  ledger.events.start();
  return ledger;
}

async function credits(ledger: Ledger, accounts: number, each: number): Promise<readonly string[]> {
  const ids = await Promise.all(Array.from({ length: accounts }, () => ledger.open()));
  for (let round = 0; round < each; round += 1) await Promise.all(ids.map((id) => ledger.credit(id)));
  return ids;
}

function versionsOf(messages: readonly RelayMessage[], key: string): readonly number[] {
  return messages
    .filter((message) => message.key === key)
    .map(({ body }) => Number((JSON.parse(body) as { readonly sequence: string }).sequence));
}

/** What a sink waits for. */
async function waitingFor({ events }: Ledger, sink = 'collect'): Promise<string | undefined> {
  return (await events.lag(HERE))[0]?.consumers.find(({ name }) => name === `relay:${sink}`)?.waitingFor;
}

describeOnEachAdapter('A sink of the relay', (harness) => {
  test('gets every event of every shard, in batches, in order per model', async () => {
    const sink = collectingSink();
    const ledger = serve(await databasesOf(harness, [HERE, THERE]), [sink]);
    const there = await ledger.open(THERE);
    await ledger.credit(there);
    const accounts = await credits(ledger, 8, 10);
    await until(() => sink.received.length >= 81);
    expect(sink.received).toHaveLength(81);
    for (const id of accounts)
      expect(versionsOf(sink.received, id)).toEqual(Array.from({ length: 10 }, (_, index) => index + 2));
    expect(versionsOf(sink.received, there)).toEqual([2]);
    expect(sink.batches.some((size) => size > 1)).toBe(true);
  });

  test('gets a logger whose entries name sink and shard', async () => {
    const entries: object[] = [];
    const collecting = collectingSink();
    const open = (shard: ShardIdentifier, log: Logger): RelaySink => {
      log.info({ broker: 'one' }, 'connecting');
      return collecting.definition.open(shard, log);
    };
    const log: Logger = { ...SILENT, info: (facts, message) => entries.push({ ...facts, message }) };
    testRelay(await databasesOf(harness), { ...collecting.definition, open }, { log });
    await until(() => entries.length > 0);
    const facts = { sink: 'collect', shard: '(0, 0)', broker: 'one' };
    expect(entries[0]).toMatchObject({ message: 'connecting', ...facts });
  });

  test('continues at its checkpoint in a separate relay process', async () => {
    const databases = await databasesOf(harness);
    const first = collectingSink();
    const ledger = serve(databases, [first]);
    const [account = ''] = await credits(ledger, 1, 3);
    await until(() => first.received.length === 3);
    await ledger.events.stop();
    expect(first.closed).toBe(1);
    await ledger.credit(account);
    const second = collectingSink();
    const relay = testRelay(databases, second.definition);
    await until(() => second.received.length > 0);
    expect(versionsOf(second.received, account)).toEqual([5]);
    expect(relay.statistics()).toEqual([
      { sink: 'collect', shard: HERE, accepted: 1, deferred: 0, rejected: 0, accepting: true },
    ]);
  });

  test('finds commits of a process that does not deliver and so sends no notification', async () => {
    const databases = await databasesOf(harness);
    const sink = collectingSink();
    testRelay(databases, sink.definition, { limits: { slowPollMs: 3_600_000 } });
    const writer = openLedger(databases);
    const [account = ''] = await credits(writer, 1, 1);
    await until(() => sink.received.length === 1);
    for (let round = 0; round < 3; round += 1) {
      await writer.credit(account);
      await until(() => sink.received.length === round + 2);
    }
  });

  test('that is down delays no other consumer, counts no attempts, and gets the waiting events in order', async () => {
    const down = collectingSink({ name: 'down', maximumAttempts: 1, batchSize: 4, inFlight: 1 });
    const up = collectingSink({ name: 'up' });
    down.judge = () => {
      throw new Error('connection refused');
    };
    const ledger = serve(await databasesOf(harness), [down, up]);
    const accounts = await credits(ledger, 4, 5);
    await until(() => up.received.length === 20 && down.batches.length > 5);
    expect(await ledger.events.deadLetters.list()).toEqual([]);
    const [{ consumers } = { consumers: [] }] = await ledger.events.lag();
    expect(consumers.find(({ name }) => name === 'relay:down')).toMatchObject({ behind: 20, deadLetters: 0 });
    const reason = 'its receiver is down: connection refused';
    await until(async () => (await waitingFor(ledger, 'down')) === reason);
    down.judge = collectingSink().judge;
    await until(() => down.received.length >= 20);
    await until(async () => (await waitingFor(ledger, 'down')) === undefined);
    for (const id of accounts) expect(versionsOf(down.received, id)).toEqual([2, 3, 4, 5, 6]);
    expect(down.mostAtOnce).toBe(1);
  });

  test('that rejects a message receives no later event of its model until the event is retried', async () => {
    const sink = collectingSink({ maximumAttempts: 2 });
    let poison: string | undefined;
    let attempts = 0;
    sink.judge = (message) => {
      if (message.key !== poison || versionsOf([message], message.key)[0] !== 3) return { kind: 'accepted' };
      attempts += 1;
      return { kind: 'rejected', reason: 'too large' };
    };
    const ledger = serve(await databasesOf(harness), [sink]);
    const [bad = '', good = ''] = await Promise.all([ledger.open(), ledger.open()]);
    poison = bad;
    for (let round = 0; round < 3; round += 1) for (const id of [bad, good]) await ledger.credit(id);
    await until(() => versionsOf(sink.received, good).length === 3);
    await until(async () => (await ledger.events.deadLetters.list()).length === 2);
    expect(attempts).toBe(2);
    expect(versionsOf(sink.received, bad)).toEqual([2]);
    poison = undefined;
    const [letter] = await ledger.events.deadLetters.list();
    expect(letter).toMatchObject({ handler: 'relay:collect', modelId: bad });
    await ledger.events.deadLetters.retry({ handler: 'relay:collect' });
    await until(() => versionsOf(sink.received, bad).length === 3);
    expect(versionsOf(sink.received, bad)).toEqual([2, 3, 4]);
  });

  test('stops although the receiver does not accept messages of other models for now', async () => {
    const sink = collectingSink();
    const databases = await databasesOf(harness);
    let gone = '';
    sink.judge = ({ key }) =>
      key === gone
        ? { kind: 'gone', reason: 'the receiver answered 410' }
        : { kind: 'deferred', reason: 'the receiver answered 503' };
    const ledger = serve(databases, [sink]);
    const accounts = await credits(ledger, 2, 1);
    await until(() => sink.batches.length > 0);
    gone = accounts[0] ?? '';
    await until(async () => (await waitingFor(ledger))?.startsWith('halted: ') === true);
    expect(await waitingFor(ledger)).toContain('the receiver answered 410');
  });

  test('stops if its receiver refuses further messages, and continues once it is resumed', async () => {
    const sink = collectingSink();
    sink.judge = () => ({ kind: 'gone', reason: 'the receiver answered 410' });
    const databases = await databasesOf(harness);
    const ledger = serve(databases, [sink]);
    const [account = ''] = await credits(ledger, 1, 2);
    await until(async () => (await waitingFor(ledger))?.startsWith('halted: ') === true);
    expect(await waitingFor(ledger)).toContain('the receiver answered 410');
    expect(await ledger.events.deadLetters.list()).toEqual([]);
    const tried = sink.batches.length;
    const other = serve(databases, [sink]);
    await ledger.credit(account);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(sink.batches.length).toBe(tried);
    sink.judge = collectingSink().judge;
    expect(await other.events.resume('relay:collect')).toBe(1);
    await until(() => sink.received.length >= 3);
    expect(versionsOf(sink.received, account)).toEqual([2, 3, 4]);
  });

  test('gets the selected models and events, and none of the runtime itself', async () => {
    const [none, some] = [
      collectingSink({ name: 'none', models: ['Other'] }),
      collectingSink({ name: 'some', models: ['Account'], events: ['AccountCredited'] }),
    ];
    const databases = await databasesOf(harness);
    const ledger = serve(databases, [none, some]);
    await credits(ledger, 1, 2);
    await until(() => some.received.length === 2);
    const operations = new EventOperations(databases);
    await until(
      async () => (await operations.lag(HERE))[0]?.consumers.every(({ behind }) => behind === 0) === true,
    );
    expect(none.received).toEqual([]);
  });
});
