import { describe, expect, test } from 'vitest';
import type { Entity, ModelDescriptor } from '../../domain/entity.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { accountModel } from '../../domain/test-support/account.js';
import { DeadlineExceededError, ShardUnavailableError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { ShardStore } from '../shard-store.js';
import { BatchReader, modelsById } from './batch-reader.js';

/** One statement under way. */
interface SentRead {
  readonly ids: readonly string[];
  answer(...models: readonly Entity[]): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** A reader whose store the test controls. */
class Bench {
  readonly sent: SentRead[] = [];
  readonly reader: BatchReader<Entity>;

  constructor() {
    const store = {
      read: (_model: unknown, ids: readonly string[]) =>
        new Promise<readonly Entity[]>((resolve, reject) => {
          this.sent.push({
            ids,
            answer: (...models) => {
              resolve(models);
              return nextTurn();
            },
            fail: (error) => {
              reject(error);
              return nextTurn();
            },
          });
        }),
    } as unknown as ShardStore;
    const accounts = accountModel as unknown as ModelDescriptor;
    const shard = ShardIdentifier.of(0, 0);
    this.reader = new BatchReader(shard, modelsById(accounts, { store, shard }));
  }

  /** Sends as many statements as may be in flight, so that further reads wait. */
  async occupy(): Promise<void> {
    for (const id of ['a', 'b']) {
      void this.reader.read(id, 60_000);
      await nextTurn();
    }
  }
}

/** Waits until requested reads are sent and the effects of an answer have happened. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test('a read with time left is sent after overdue reads in the queue have failed', async () => {
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

describe('a batch', () => {
  test('with an unreadable row is split until only the read of that row fails', async () => {
    const { reader, sent } = new Bench();
    const unreadable = new Error('unreadable');
    const ends = Promise.allSettled(['a', 'b', 'a', 'c', 'd'].map((id) => reader.read(id, 60_000)));
    await nextTurn();
    for (let index = 0; index < sent.length; index += 1) {
      const { ids, answer, fail } = sent[index] ?? {};
      await (ids?.includes('c') === true ? fail?.(unreadable) : answer?.());
    }
    expect(sent.map(({ ids }) => ids.join(''))).toEqual(['abcd', 'ab', 'cd', 'c', 'd']);
    expect((await ends).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect((await ends)[3]).toMatchObject({ reason: unreadable });
  });

  test('with an id that the server refuses is split until only the read of that id fails', async () => {
    const { reader, sent } = new Bench();
    const ends = Promise.allSettled(['a', 'b'].map((id) => reader.read(id, 60_000)));
    await nextTurn();
    for (const index of [0, 1, 2]) {
      const { ids, answer, fail } = sent[index] ?? {};
      const refusal = new DriverFailure('invalid byte sequence', { phase: 'answered', sqlState: '22021' });
      await (ids?.includes('b') === true ? fail?.(refusal) : answer?.());
    }
    expect((await ends).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  test('that the server does not answer is not split, because each half would fail too', async () => {
    const { reader, sent } = new Bench();
    const ends = Promise.allSettled(['a', 'b'].map((id) => reader.read(id, 60_000)));
    await nextTurn();
    await sent[0]?.fail(new DriverFailure('connection lost', { phase: 'in-flight' }));
    for (const end of await ends) expect(end).toMatchObject({ reason: expect.any(ShardUnavailableError) });
    expect(sent).toHaveLength(1);
  });
});
