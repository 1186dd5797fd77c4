import { afterAll, describe, expect, it } from 'vitest';
import { ShardingConfig } from '../config/sharding-config.js';
import { openDatabases } from '../databases.js';
import { ShardUnavailableError } from '../errors.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { EventOperations } from './event-operations.js';

const CLOSED_PORT = 'jdbc:postgresql://127.0.0.1:1/none';
const EVENT = '0198c0de-0000-7000-8000-000000000000';

const databases = openDatabases(
  ShardingConfig.of({
    defaultShard: { group: 0, member: 0 },
    groups: [
      {
        group: 0,
        name: 'global',
        members: [
          {
            member: 0,
            name: 'global-1',
            configs: { primaryConfig: { jdbcUrl: CLOSED_PORT, username: 'none' } },
          },
        ],
      },
    ],
  }),
);
const shard = databases.defaultShard;
const operations = new EventOperations(databases);

afterAll(() => databases.close(0));

describe('operations on a shard that is down', () => {
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    lag: () => operations.lag(),
    history: () => operations.history(EVENT, { shard }),
    replay: () => operations.replay('Handler', { time: new Date(0) }),
    rebuild: () => operations.rebuild('Handler'),
    rebuilds: () => operations.rebuilds('Handler'),
    abandonRebuild: () => operations.abandonRebuild('Handler'),
    failovers: () => operations.failovers(shard),
    acknowledgeFailovers: () => operations.acknowledgeFailovers(shard, []),
    rebase: () => operations.rebase(),
    retain: () => operations.retain({ keepDays: 1 }),
    completeFrom: () => operations.completeFrom(shard),
    resume: () => operations.resume('Handler'),
    narrow: () => operations.narrow('Handler', 'event:E'),
    'deadLetters.list': () => operations.deadLetters.list(),
    'deadLetters.show': () => operations.deadLetters.show(EVENT),
    'deadLetters.retry': () => operations.deadLetters.retry({}),
    'deadLetters.discard': () => operations.deadLetters.discard({ handler: 'Handler' }),
    'schedules.list': () => operations.schedules.list(),
    'schedules.recurring': () => operations.schedules.recurring(),
    'schedules.pause': () => operations.schedules.pause('Action'),
    'schedules.cancel': () => operations.schedules.cancel(EVENT),
  };

  it.each(Object.entries(calls))('%s throws the error that callers know', async (_name, call) => {
    const error = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ShardUnavailableError);
    expect(error).toMatchObject({ message: expect.stringContaining('(0, 0)') });
    expect((error as Error).cause).toBeInstanceOf(DriverFailure);
  });
});
