import { expect, test } from 'vitest';
import type { ModelDescriptor } from '../domain/descriptor.js';
import type { Entity } from '../domain/entity.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { accountModel } from '../domain/test-support/account.js';
import { DeadlineExceededError } from '../errors.js';
import { ModelReader } from './model-reader.js';
import type { ShardStore } from './shard-store.js';

/** One statement under way. */
interface SentRead {
  readonly ids: readonly string[];
  answer(...models: readonly Entity[]): Promise<void>;
}

/** A reader whose store answers when the test says so. */
class Bench {
  readonly sent: SentRead[] = [];
  readonly reader: ModelReader;

  constructor() {
    const store = {
      read: (_model: unknown, ids: readonly string[]) =>
        new Promise<readonly Entity[]>((resolve) => {
          const answer = (...models: readonly Entity[]): Promise<void> => {
            resolve(models);
            return nextTurn();
          };
          this.sent.push({ ids, answer });
        }),
    } as unknown as ShardStore;
    this.reader = new ModelReader(
      store,
      ShardIdentifier.of(0, 0),
      accountModel as unknown as ModelDescriptor,
    );
  }

  /** As many statements as may be under way: what is asked for from now on waits. */
  async occupy(): Promise<void> {
    for (const id of ['a', 'b']) {
      void this.reader.read(id, 60_000);
      await nextTurn();
    }
  }
}

/** What has been asked for has been sent, and what follows from an answer has happened. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test('a read with time left is sent, however many overdue ones wait before it', async () => {
  const bench = new Bench();
  const { reader, sent } = bench;
  await bench.occupy();
  const overdue = Promise.allSettled(Array.from({ length: 600 }, (_, index) => reader.read(`o${index}`, 0)));
  const inTime = reader.read('c', 60_000);
  for (const { answer } of [...sent]) await answer();
  expect(sent.slice(2).map(({ ids }) => ids)).toEqual([['c']]);
  for (const { answer } of sent.slice(2)) await answer();
  expect(await inTime).toBeUndefined();
  for (const end of await overdue) {
    expect(end).toMatchObject({ status: 'rejected', reason: expect.any(DeadlineExceededError) });
  }
});
