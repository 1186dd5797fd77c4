import { TransientMap } from '../../collections/transient-map.js';
import { IdempotencyKeyReusedError } from '../../errors.js';
import type { KeyName } from '../../persistence/write/idempotency-key.js';
import type { Running } from '../running.js';

/** A request under a key. */
export interface KeyedRequest {
  readonly name: KeyName;
  /** Hash of action and params. A different request under the same key is refused. */
  readonly fingerprint: string;
}

interface Work {
  readonly fingerprint: string;
  readonly settled: Promise<unknown>;
}

/** An execution under a key: it runs, or is refused before. */
interface Execution<T> {
  run(): Promise<T>;
  /** Reports its end, which `run` does by itself. */
  ended(refusal: unknown): void;
}

/** Waits for another execution, within the limits of the caller. */
type Wait = (settled: Promise<unknown>) => Promise<unknown>;

/**
 * Executions under a key that run in this process. A concurrent repeat waits for the first one instead of racing it
 * to the database, up to its own deadline; then it looks the key up like any later repeat.
 */
export class KeyJoins {
  /** Callers may choose keys with one suffix, but only those that run at once are compared. */
  readonly #works = new TransientMap<Work>();
  readonly #running: Running;

  /** @param running counts the executions that wait here */
  constructor(running: Running) {
    this.#running = running;
  }

  /**
   * Runs `execution` when no other one under this key runs in this process, in the order of the calls. Its result is
   * final: it may have had its effect.
   *
   * @throws errors of `wait`
   * @throws IdempotencyKeyReusedError if an execution with another request is running or waits
   */
  run<T>({ name, fingerprint }: KeyedRequest, execution: Execution<T>, wait: Wait): Promise<T> {
    // No name contains NUL.
    const id = `${name.principal}\0${name.operation}\0${name.key}`;
    const last = this.#works.get(id);
    if (last === undefined) {
      const result = execution.run();
      this.#isLast(id, fingerprint, result);
      return result;
    }
    if (last.fingerprint !== fingerprint) {
      const refusal = new IdempotencyKeyReusedError(
        'This idempotency key is being used with another request',
      );
      execution.ended(refusal);
      return Promise.reject(refusal);
    }
    const result = this.#after(last.settled, execution, wait);
    // One that gives up early does not let those behind it overtake the one before.
    this.#isLast(id, fingerprint, Promise.allSettled([last.settled, result]));
    return result;
  }

  /** The next execution under the key waits for this one alone: many that wait must not all wake for each one's end. */
  #isLast(id: string, fingerprint: string, end: Promise<unknown>): void {
    const ended = (): void => {
      if (this.#works.get(id) === last) this.#works.delete(id);
    };
    const last: Work = { fingerprint, settled: end.then(ended, ended) };
    this.#works.set(id, last);
  }

  async #after<T>(settled: Promise<unknown>, execution: Execution<T>, wait: Wait): Promise<T> {
    this.#running.begin();
    try {
      await wait(settled).catch((refusal: unknown) => {
        execution.ended(refusal);
        throw refusal;
      });
      return await execution.run();
    } finally {
      this.#running.end();
    }
  }
}
