import { IdempotencyKeyReusedError } from '../../errors.js';
import type { KeyName } from '../../persistence/write/idempotency-key.js';

interface Running {
  readonly fingerprint: string;
  readonly settled: Promise<unknown>;
}

/**
 * Executions under a key that run in this process. A concurrent repeat waits for the first one instead of racing it
 * to the database; then it looks the key up like any later repeat.
 */
export class KeyJoins {
  /** Not a `TransientMap`: callers choose keys, which may share a suffix. */
  readonly #running = new Map<string, Running>();

  /**
   * Runs `work` when no other execution under this key runs in this process. The result of `work` is final: it may have
   * had its effect.
   *
   * @param wait waits for another execution, within the limits of the caller
   * @throws errors of `wait`
   * @throws IdempotencyKeyReusedError if an execution with another request is running
   */
  async run<T>(
    name: KeyName,
    fingerprint: string,
    work: () => Promise<T>,
    wait: (settled: Promise<unknown>) => Promise<unknown>,
  ): Promise<T> {
    const id = JSON.stringify([name.principal, name.operation, name.key]);
    for (let running = this.#running.get(id); running !== undefined; running = this.#running.get(id)) {
      if (running.fingerprint !== fingerprint) {
        throw new IdempotencyKeyReusedError('This idempotency key is being used with another request');
      }
      await wait(running.settled);
    }
    const result = work();
    const settled = result.then(ignore, ignore).then(() => this.#running.delete(id));
    this.#running.set(id, { fingerprint, settled });
    return result;
  }
}

function ignore(): void {}
