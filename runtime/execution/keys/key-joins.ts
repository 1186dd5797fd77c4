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
   * Runs `work` when no other execution under this key runs in this process. The result of `work` is final: it may have
   * had its effect.
   *
   * @throws errors of `wait`
   * @throws IdempotencyKeyReusedError if an execution with another request is running
   */
  run<T>({ name, fingerprint }: KeyedRequest, work: () => Promise<T>, wait: Wait): Promise<T> {
    // No name contains NUL.
    const id = `${name.principal}\0${name.operation}\0${name.key}`;
    const ended = (): void => this.#works.delete(id);
    const start = (): Promise<T> => {
      const result = work();
      this.#works.set(id, { fingerprint, settled: result.then(ended, ended) });
      return result;
    };
    return this.#works.has(id) ? this.#join(id, fingerprint, start, wait) : start();
  }

  async #join<T>(id: string, fingerprint: string, start: () => Promise<T>, wait: Wait): Promise<T> {
    this.#running.begin();
    try {
      for (let other = this.#works.get(id); other !== undefined; other = this.#works.get(id)) {
        if (other.fingerprint !== fingerprint)
          throw new IdempotencyKeyReusedError('This idempotency key is being used with another request');
        await wait(other.settled);
      }
      return await start();
    } finally {
      this.#running.end();
    }
  }
}
