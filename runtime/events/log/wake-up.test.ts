import { expect, test, vi } from 'vitest';
import type { NotificationListener, ShardDatabase } from '../../sharding/shard-database.js';
import { until } from '../test-support/ledger.js';
import { WakeUp } from './wake-up.js';

test('the log is polled fast while no notification is known to arrive: before the first, and after a loss', async () => {
  const listeners: NotificationListener[] = [];
  const database = {
    kind: 'postgresql',
    query: async () => ({ rows: [], rowCount: 0 }),
    listen: async (_: string, listener: NotificationListener) => {
      listeners.push(listener);
      return { close: async () => {} };
    },
  } as unknown as ShardDatabase;
  const wake = vi.fn();
  const wakeUp = new WakeUp(
    database,
    { slowPollMs: 1_000, fastPollMs: 10 },
    { wake, isNeeded: () => true, warn: () => {} },
  );
  wakeUp.start();
  await until(() => listeners.length === 1);
  expect(wakeUp.pollMs).toBe(10);
  listeners[0]?.onNotification('probe');
  expect([wakeUp.pollMs, wake.mock.calls.length]).toEqual([1_000, 0]);
  listeners[0]?.onNotification('');
  expect(wake).toHaveBeenCalledTimes(1);
  listeners[0]?.onLost();
  await until(() => wakeUp.pollMs === 10);
  expect(wake).toHaveBeenCalledTimes(2);
  await until(() => listeners.length === 2);
  await wakeUp.stop();
});
