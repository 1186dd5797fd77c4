import { describe, expect, test } from 'vitest';
import { IdempotencyKeyBusyError, IdempotencyKeyReusedError } from '../../errors.js';
import type { KeyName } from '../../persistence/write/idempotency-key.js';
import { Running } from '../running.js';
import { KeyJoins } from './key-joins.js';

const name: KeyName = { principal: 'alice', operation: 'deposit', key: 'k1' };
const patient = (settled: Promise<unknown>): Promise<unknown> => settled;
const hasty = (): Promise<never> => Promise.reject(new IdempotencyKeyBusyError('still running'));

/** Work that the test ends. */
class Work {
  runs = 0;
  refusals = 0;
  end: (result: string) => void = () => {};
  fail: (error: Error) => void = () => {};

  ended(): void {
    this.refusals += 1;
  }

  run(): Promise<string> {
    this.runs += 1;
    return new Promise((resolve, reject) => {
      this.end = resolve;
      this.fail = reject;
    });
  }
}

describe('executions under one key', () => {
  test('of one process run one after the other', async () => {
    const joins = new KeyJoins(new Running());
    const [first, second] = [new Work(), new Work()];
    const firstEnd = joins.run({ name, fingerprint: 'f' }, first, patient);
    const secondEnd = joins.run({ name, fingerprint: 'f' }, second, patient);
    await Promise.resolve();
    expect([first.runs, second.runs]).toEqual([1, 0]);
    first.fail(new Error('refused'));
    await expect(firstEnd).rejects.toThrow('refused');
    await new Promise(setImmediate);
    expect(second.runs).toBe(1);
    second.end('done');
    expect(await secondEnd).toBe('done');
  });

  test('wait once each, however many there are, and run in the order of the calls', async () => {
    const joins = new KeyJoins(new Running());
    const ran: number[] = [];
    let waits = 0;
    const wait = (settled: Promise<unknown>): Promise<unknown> => {
      waits += 1;
      return settled;
    };
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    const workOf = (number: number) => ({
      run: async (): Promise<void> => {
        ran.push(number);
        await new Promise(setImmediate);
      },
      ended: () => {},
    });
    await Promise.all(numbers.map((number) => joins.run({ name, fingerprint: 'f' }, workOf(number), wait)));
    expect([ran, waits]).toEqual([numbers, numbers.length - 1]);
  });

  test('do not overtake the one that runs when the one before them gives up', async () => {
    const joins = new KeyJoins(new Running());
    const [first, third] = [new Work(), new Work()];
    const end = joins.run({ name, fingerprint: 'f' }, first, patient);
    await expect(joins.run({ name, fingerprint: 'f' }, new Work(), hasty)).rejects.toThrow();
    const thirdEnd = joins.run({ name, fingerprint: 'f' }, third, patient);
    await new Promise(setImmediate);
    expect(third.runs).toBe(0);
    first.end('done');
    await end;
    await new Promise(setImmediate);
    expect(third.runs).toBe(1);
    third.end('repeated');
    expect(await thirdEnd).toBe('repeated');
  });

  test('with different requests are refused until the first has ended', async () => {
    const joins = new KeyJoins(new Running());
    const work = new Work();
    const end = joins.run({ name, fingerprint: 'f' }, work, patient);
    await expect(joins.run({ name, fingerprint: 'g' }, new Work(), patient)).rejects.toThrow(
      IdempotencyKeyReusedError,
    );
    work.end('done');
    expect(await end).toBe('done');
    await new Promise(setImmediate);
    const later = new Work();
    const laterEnd = joins.run({ name, fingerprint: 'g' }, later, hasty);
    later.end('done later');
    expect(await laterEnd).toBe('done later');
  });

  test('of different principals, operations or keys do not wait for each other', async () => {
    const joins = new KeyJoins(new Running());
    const others = [{ principal: 'bob' }, { operation: 'withdraw' }, { key: 'k2' }];
    const works = [name, ...others.map((other) => ({ ...name, ...other }))].map((each) => {
      const work = new Work();
      void joins.run({ name: each, fingerprint: 'f' }, work, hasty);
      return work;
    });
    expect(works.map(({ runs }) => runs)).toEqual([1, 1, 1, 1]);
  });
});
