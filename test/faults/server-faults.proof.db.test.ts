import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from 'fw-actions';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EXECUTION_DEFAULTS } from '../../runtime/execution/action-executor.js';
import { check } from './checker.js';
import { freeze, kill, makeReadOnly, stop, takeAllConnections, terminateBackends } from './server-faults.js';
import { latency, type Sample, ServerLoad } from './server-load.js';
import { ServerWorld } from './server-world.js';

const BEFORE_MS = 1_000;
const BACK_WITHIN_MS = 30_000;

let world: ServerWorld;
let opened: Application;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(async () => {
  world = await ServerWorld.start();
});
afterAll(() => world?.destroy());

beforeEach(async () => {
  process.on('unhandledRejection', onUnhandled);
  await world.clear();
  opened = await world.open();
});
afterEach(async () => {
  process.off('unhandledRejection', onUnhandled);
  await opened.close();
});

const failures = (samples: readonly Sample[]): readonly string[] => [
  ...new Set(samples.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'ok')),
];

describe('With one of two servers', () => {
  it.each([
    { name: 'killed with -9', hurt: kill, hurtForMs: 1_500 },
    { name: 'restarted', hurt: stop, hurtForMs: 0 },
    { name: 'stopped for seconds (SIGSTOP)', hurt: freeze, hurtForMs: 3_000 },
    { name: 'made read-only', hurt: makeReadOnly, hurtForMs: 1_500 },
    { name: 'losing its sessions over and over', hurt: terminateBackends, hurtForMs: 0 },
    { name: 'out of connections', hurt: takeAllConnections, hurtForMs: 1_500 },
  ])(
    '$name, the other shard notices nothing and no answer is a lie',
    async ({ name, hurt, hurtForMs }) => {
      const load = new ServerLoad(opened.executor, name);
      await load.start();
      const startMs = performance.now();
      await delay(BEFORE_MS);
      const hurtMs = performance.now();
      const heal = await hurt(world.mexico);
      await delay(hurtForMs);
      await heal();
      const backMs = performance.now();
      const firstSuccessMs = await load.firstSuccessAfter('MX', backMs);
      await delay(200);
      await load.stop();

      expect(firstSuccessMs).toBeLessThan(BACK_WITHIN_MS);
      const before = load.during('US', startMs, hurtMs);
      const meanwhile = load.during('US', hurtMs, backMs);
      expect(failures(meanwhile)).toEqual([]);
      // The fault uses the same machine, so the test only requires that no call to another shard waits for the failing
      // one: that would take longer than the fault.
      expect(latency(meanwhile, 0.5)).toBeLessThan(3 * latency(before, 0.5) + 500);
      expect(latency(meanwhile, 0.95)).toBeLessThan(3 * latency(before, 0.95) + 1_000);
      expect(check(load.history, await world.rows(), EXECUTION_DEFAULTS.timeoutMs).slice(0, 5)).toEqual([]);
      expect(unhandled).toEqual([]);
      console.info(
        `${name}: back after ${Math.round(firstSuccessMs)} ms, ${load.history.calls.length} calls, ` +
          `${failures(load.samples.MX).join(', ') || 'no failure'}; the other shard's median ` +
          `${latency(before, 0.5).toFixed(1)} -> ${latency(meanwhile, 0.5).toFixed(1)} ms`,
      );
    },
    40_000,
  );
});
