import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { ManualTime } from './test-support/manual-time.js';
import { sleep, time, useTime } from './time.js';

let restore = (): void => {};
afterEach(() => restore());

it('uses a replaced clock, and the system clock afterwards', async () => {
  const manual = new ManualTime();
  restore = useTime(manual);
  let ended = false;
  const pause = sleep(60_000).then(() => {
    ended = true;
  });
  manual.pass(59_999);
  await Promise.resolve();
  expect([ended, time.nowMs()]).toEqual([false, 59_999]);
  manual.pass(1);
  await pause;
  expect(ended).toBe(true);
  restore();
  await sleep(1);
  expect(time.nowMs()).not.toBe(60_000);
  expect(manual.waiting).toBe(0);
});

it('ends a pause when its signal fires, and clears the timer', async () => {
  const manual = new ManualTime();
  restore = useTime(manual);
  const controller = new AbortController();
  const pause = sleep(60_000, { signal: controller.signal });
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(pause).rejects.toMatchObject({ name: 'AbortError', cause: reason });
  expect(manual.waiting).toBe(0);
  await expect(sleep(1, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
});

it('has one listener for all pauses with a signal, because Node.js warns of a leak above ten', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const pauses = Array.from({ length: 12 }, () => sleep(60_000, { signal }).catch(() => 'ended'));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  controller.abort();
  expect(new Set(await Promise.all(pauses))).toEqual(new Set(['ended']));
});

it.each(['setTimeout', 'setInterval'] as const)(
  '%s does not fire at once after a time of months',
  async (start) => {
    let fired = 0;
    const timer = time[start](() => {
      fired += 1;
    }, 90 * 86_400_000);
    await sleep(20);
    time.clearInterval(timer);
    expect(fired).toBe(0);
  },
);

it.each<[string, (work: () => void) => void]>([
  ['timeout', (work) => void time.setTimeout(work, 1)],
  ['immediate', (work) => time.setImmediate(work)],
  [
    'interval',
    (work) => {
      const timer = time.setInterval(() => {
        time.clearInterval(timer);
        work();
      }, 1);
    },
  ],
])('runs a %s outside of the context that started it', async (_kind, start) => {
  const context = new AsyncLocalStorage<string>();
  const seen = await context.run('perform', () => {
    return new Promise((resolve) => start(() => resolve(context.getStore())));
  });
  expect(seen).toBeUndefined();
});

it('keeps the context of code that waits', async () => {
  const context = new AsyncLocalStorage<string>();
  const seen = await context.run('perform', async () => {
    await sleep(1);
    return context.getStore();
  });
  expect(seen).toBe('perform');
});
