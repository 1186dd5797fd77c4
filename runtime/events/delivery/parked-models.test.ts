import { expect, onTestFinished, test } from 'vitest';
import { gate } from '../../concurrency/test-support/gate.js';
import { useTime } from '../../concurrency/time.js';
import { eventOf } from '../test-support/logged-event.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import { ParkedModels, type ParkedModelsDependencies } from './parked-models.js';

const CURSOR = { epoch: 1, transactionId: '0', position: 0 };

/** Twenty models whose parked events are to be retried. */
function parked(letters: object, handle: ParkedModelsDependencies['handle'] = async () => 'gone') {
  const options = {
    consumer: { lease: { name: 'Mirror' } },
    attempts: { isTooNew: () => false },
    concurrency: 32,
    letters,
    warn: () => undefined,
  };
  const dependencies = {
    loop: { mayWork: true, signal: new AbortController().signal, wakeUp: { notify: () => undefined } },
    counted: {
      of: () => 0,
      attempt: (_id: string, _count: unknown, work: () => unknown) => work(),
      settled: () => undefined,
    },
    handle,
    leave: () => undefined,
    inTurn: false,
  };
  return new ParkedModels(
    options as unknown as ConsumerRunOptions,
    dependencies as unknown as ParkedModelsDependencies,
  );
}

test('A check of parked events that takes long is made less often', async () => {
  let nowMs = 0;
  onTestFinished(useTime({ nowMs: () => nowMs }));
  const checksMs: number[] = [];
  const models = parked({
    parkedModels: async () => {
      checksMs.push(nowMs);
      nowMs += 500;
      return [{ key: 'Account 1', retry: false }];
    },
  });
  for (let step = 0; step < 40; step += 1) {
    await models.refresh();
    nowMs += 500;
  }
  expect(checksMs.slice(0, 3)).toEqual([0, 10_000, 20_000]);
});

test('At most eight models are resumed at the same time, so that other work has connections', async () => {
  const { opened, open } = gate();
  let [now, most] = [0, 0];
  const keys = Array.from({ length: 20 }, (_, index) => `Account ${index}`);
  const models = parked(
    {
      parkedModels: async () => keys.map((key) => ({ key, retry: true })),
      of: async (_: string, { modelId }: { modelId: string }) => [
        { event: eventOf(modelId, modelId, CURSOR), attempts: 1 },
      ],
    },
    async () => {
      now += 1;
      most = Math.max(most, now);
      await opened;
      now -= 1;
      return 'lost';
    },
  );
  await models.refresh();
  await new Promise((resolve) => setImmediate(resolve));
  expect([now, most]).toEqual([8, 8]);
  open();
});
