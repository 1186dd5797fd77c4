import { AsyncLocalStorage } from 'node:async_hooks';

/** The names of methods of a collaborator. */
export type MethodOf<T> = {
  [Name in keyof T & string]: T[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof T & string];

/** One call of a collaborator: the method's name and its arguments. */
export type CallOf<T> = {
  [Name in MethodOf<T>]: T[Name] extends (...args: infer Arguments) => unknown
    ? readonly [Name, ...Arguments]
    : never;
}[MethodOf<T>];

/** @internal What was called during one run of a specification. */
export interface RecordedCall {
  readonly target: object;
  readonly call: readonly unknown[];
}

const storage = new AsyncLocalStorage<RecordedCall[]>();

/**
 * A collaborator that does what `target` does and remembers its calls, for `thenCalls`: each run of a specification
 * sees its own calls only, so that all tests of a file may share one.
 *
 * @param target answers; what it throws is thrown
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

/** @internal Runs `work` and gives what it has called, also after it has failed. */
export function recording<T>(calls: RecordedCall[], work: () => Promise<T>): Promise<T> {
  return storage.run(calls, work);
}
