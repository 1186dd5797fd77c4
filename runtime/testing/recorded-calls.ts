import { AsyncLocalStorage } from 'node:async_hooks';
import type { ExpectedArgument } from './matchers.js';

/** An expected call of a collaborator: the method's name, and each argument as a value, a matcher or a predicate. */
export type CallOf<T> = {
  [Name in keyof T & string]: T[Name] extends (...args: infer Arguments) => unknown
    ? readonly [Name, ...{ [Index in keyof Arguments]: ExpectedArgument<Arguments[Index]> }]
    : never;
}[keyof T & string];

/** @internal A recorded call of one specification's run. */
export interface RecordedCall {
  readonly target: object;
  readonly call: readonly unknown[];
}

const storage = new AsyncLocalStorage<RecordedCall[]>();

/**
 * A collaborator that forwards calls to `target` and records them for `thenCalls`. Each run of a specification sees
 * only its own calls, so that all tests of a file may share one.
 *
 * @param target answers the calls; its errors are passed on
 */
export function recordedCalls<T extends object>(target: T): T {
  const recorder: T = new Proxy(target, {
    get: (object, name) => {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function' || typeof name !== 'string') return value;
      return (...args: readonly unknown[]): unknown => {
        storage.getStore()?.push({ target: recorder, call: [name, ...args] });
        return Reflect.apply(value, object, args);
      };
    },
  });
  return recorder;
}

/** @internal Runs `work` and records its calls, even if it fails. */
export function recording<T>(calls: RecordedCall[], work: () => Promise<T>): Promise<T> {
  return storage.run(calls, work);
}
