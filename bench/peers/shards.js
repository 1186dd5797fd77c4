import { setTimeout as delay } from 'node:timers/promises';
import { open as openFramework } from './framework.js';

/** As the framework, and reports the memory of the configured shards. */
export async function open(options) {
  const heapBefore = await heapUsed();
  const target = await openFramework(options);
  const heapBytes = (await heapUsed()) - heapBefore;
  return { ...target, facts: () => ({ heapBytes }) };
}

/** Heap in use after collections; needs `--expose-gc`. */
async function heapUsed() {
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc?.();
    await delay(10);
  }
  return process.memoryUsage().heapUsed;
}
