import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eventOf } from '../test-support/logged-event.js';
import type { LoggedEvent } from './event-record.js';
import { ModelWindow } from './model-window.js';

function eventAt(position: number, modelId: string): LoggedEvent {
  return eventOf(String(position), modelId, { epoch: 1, transactionId: '1', position });
}

describe('A ModelWindow', () => {
  test('moves the checkpoint only past finished events, and keeps the order of each model', () => {
    const models = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(models, fc.infiniteStream(fc.nat(2)), (ids, choices) => {
        const window = new ModelWindow();
        for (const [position, id] of ids.entries()) window.admit(eventAt(position + 1, id));
        const done = new Set<number>();
        const handled = new Map<string, number[]>();
        while (window.size > 0) {
          // Skipped queues go to the end, so that models take turns at random.
          for (let skips = choices.next().value ?? 0; skips > 0; skips -= 1) {
            const skipped = window.take();
            if (skipped !== undefined) window.giveBack(skipped);
          }
          const queue = window.take();
          const entry = queue?.entries.shift();
          if (queue === undefined || entry === undefined) throw new Error('Nothing to do, and yet not done');
          const { position } = entry.event.cursor;
          done.add(position);
          handled.set(queue.key, [...(handled.get(queue.key) ?? []), position]);
          window.done(entry);
          window.giveBack(queue);
          expect(window.open).toBe(ids.length - done.size);
          const reached = window.advance()?.position ?? 0;
          for (let before = 1; before <= reached; before += 1) expect(done.has(before)).toBe(true);
        }
        for (const positions of handled.values())
          expect(positions).toEqual([...positions].sort((a, b) => a - b));
      }),
    );
  });

  test('does not return a model that is being handled', () => {
    const window = new ModelWindow();
    window.admit(eventAt(1, 'a'));
    window.admit(eventAt(2, 'a'));
    expect(window.take()?.entries).toHaveLength(2);
    expect(window.take()).toBeUndefined();
  });
});
