import { expect, test } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ConsumerLag, ShardLag } from '../events/lag.js';
import { createMetrics } from './prometheus.js';

const consumer: ConsumerLag = {
  name: 'Statistics',
  handler: 'Statistics',
  kind: 'live',
  holder: undefined,
  waitingFor: undefined,
  behind: 0,
  behindMs: 0,
  deadLetters: 0,
  parkedModels: 0,
};

function lagOf(member: number, waits: string | undefined): ShardLag {
  return {
    shard: ShardIdentifier.of(0, member),
    horizon: { ageMs: 0, holders: [] } as never,
    dueActions: 0,
    actionsWaitFor: waits,
    failedActions: 0,
    failovers: [],
    consumers: [{ ...consumer, waitingFor: waits }],
  };
}

test('Metrics show which handlers and scheduled actions wait for another release', async () => {
  const metrics = createMetrics({
    statistics: () => [],
    lag: () => Promise.resolve([lagOf(0, 'a saga is in step HOTEL'), lagOf(1, undefined)]),
  });
  const text = await metrics.render();
  expect(text).toContain('fw_event_handler_waiting{shard="(0, 0)",handler="Statistics"} 1');
  expect(text).toContain('fw_event_handler_waiting{shard="(0, 1)",handler="Statistics"} 0');
  expect(text).toContain('fw_scheduled_actions_waiting{shard="(0, 0)"} 1');
  expect(text).toContain('fw_scheduled_actions_waiting{shard="(0, 1)"} 0');
});
