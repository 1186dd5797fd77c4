import { expect, test } from 'vitest';
import { ownersDatabase } from '../../../test/databases/roles.js';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { uuid7 } from '../../domain/id-source.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { rebase } from '../../events/log/rebase.js';
import { type FeedEvent, type FollowedModel, readFeeds } from './feed-reader.js';

const HERE = ShardIdentifier.of(0, 0);
const wallet = (modelId: string, after: number): FollowedModel => ({
  modelName: 'Wallet',
  modelId,
  after,
  position: '0',
});

/** Five versions of `a` with 1, 3, 1, 4 and 1 events, and one of `b`. */
const EVENTS = `INSERT INTO eventlog.events
  (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)
SELECT gen_random_uuid(), gen_random_uuid(), 'test', model, name, 'Changed', '{}', clock_timestamp(), version
FROM (VALUES (1, 'a', 'Wallet', 1), (2, 'a', 'Wallet', 2), (3, 'a', 'Wallet', 2), (4, 'a', 'Wallet', 2),
  (5, 'a', 'Wallet', 3), (6, 'b', 'Wallet', 1), (7, 'a', 'Wallet', 4), (8, 'a', 'Wallet', 4), (9, 'a', 'Wallet', 4),
  (10, 'a', 'Wallet', 4), (11, 'a', 'Wallet', 5), (12, 'a', 'Other', 4)) AS e(nr, model, name, version) ORDER BY nr`;

describeOnEachAdapter('Feeds', (harness) => {
  test('return the events of a version together, so that a reader can continue after it', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: [] });
    await ownersDatabase(databases, HERE).query({ text: EVENTS, values: [] });
    const versions = async (
      models: readonly FollowedModel[],
      events: number,
      bytes = 1_000_000,
    ): Promise<number[][]> => {
      const feeds = await readFeeds(databases.database(HERE), models, { events, bytes });
      return feeds.map((events) => events.map(({ modelVersion }) => modelVersion));
    };
    expect(await versions([wallet('a', 0), wallet('b', 0), wallet('c', 0)], 2)).toEqual([[1], [1], []]);
    expect(await versions([wallet('a', 0)], 4)).toEqual([[1, 2, 2, 2]]);
    expect(await versions([wallet('a', 1)], 2)).toEqual([[2, 2, 2]]);
    expect(await versions([wallet('a', 2)], 1)).toEqual([[3]]);
    expect(await versions([wallet('a', 3)], 1)).toEqual([[4, 4, 4, 4]]);
    expect(await versions([wallet('a', 3)], 100)).toEqual([[4, 4, 4, 4, 5]]);
    expect(await versions([wallet('a', 5)], 100)).toEqual([[]]);
    // A feed is cut after its first event beyond the bytes, and never inside of a version.
    expect(await versions([wallet('a', 0), wallet('b', 0)], 100, 1)).toEqual([[1], [1]]);
    expect(await versions([wallet('a', 1)], 100, 1)).toEqual([[2, 2, 2]]);
    expect(await versions([wallet('a', 0)], 100, 11)).toEqual([[1, 2, 2, 2, 3]]);
  });

  test('continue behind a position without the events before it', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: [] });
    await ownersDatabase(databases, HERE).query({ text: EVENTS, values: [] });
    const read = async (model: FollowedModel): Promise<readonly FeedEvent[]> => {
      const [events = []] = await readFeeds(databases.database(HERE), [model], { events: 100, bytes: 1_000 });
      return events;
    };
    const last = (await read(wallet('a', 0))).filter(({ modelVersion }) => modelVersion === 3).at(-1);
    // A version below would bring the events before it again.
    const rest = await read({ ...wallet('a', 0), position: last?.position ?? '' });
    expect(rest.map(({ modelVersion }) => modelVersion)).toEqual([4, 4, 4, 4, 5]);
  });

  test('wait on another server until the log is rebased, because its positions may be lower', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: [] });
    const owner = ownersDatabase(databases, HERE);
    const run = (text: string) => owner.query({ text, values: [] });
    await run(`SELECT setval(pg_get_serial_sequence('eventlog.events', 'position'), 100)`);
    await run(EVENTS);
    await run(
      `INSERT INTO eventlog.delivery_epochs (epoch, system_identifier, after_position) VALUES (1, '1', 0)`,
    );
    // Copied rows carry the ids of another server's transactions.
    await run(`UPDATE eventlog.events SET transaction_id = '3'`);
    await run(`SELECT setval(pg_get_serial_sequence('eventlog.events', 'position'), 1)`);
    await run(`WITH acted AS (INSERT INTO eventlog.actions (id, status, namespace, name, principal, started_date, completed_date)
        VALUES ('${uuid7.next(HERE.bits)}', 'committed', 'test', 'Change', 'alice', now(), now()) RETURNING id)
      INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, model_version)
      SELECT gen_random_uuid(), id, 'test', 'a', 'Wallet', 'Changed', '{}', clock_timestamp(), 6 FROM acted`);
    const versions = async (): Promise<readonly number[] | undefined> => {
      const page = { events: 100, bytes: 1_000_000 };
      const [events] = await readFeeds(databases.database(HERE), [wallet('a', 4)], page);
      return events?.map(({ modelVersion }) => modelVersion);
    };
    expect(await versions()).toEqual([]);
    await rebase(owner);
    expect(await versions()).toEqual([5, 6]);
  });
});
