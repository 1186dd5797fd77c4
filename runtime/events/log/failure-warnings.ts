import { messageOf } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';

/** Warns of a failure once, until an attempt succeeds or fails in another way. */
export class FailureWarnings {
  readonly #warn: (message: string) => void;
  #last: string | undefined;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  failed(subject: string, error: unknown): void {
    const kind = kindOf(error);
    if (kind !== this.#last) this.#warn(`${subject}: ${messageOf(error)}`);
    this.#last = kind;
  }

  /** @returns whether the last attempt had failed */
  succeeded(): boolean {
    const isEnd = this.#last !== undefined;
    this.#last = undefined;
    return isEnd;
  }
}

/** An unreachable database fails with a different message each time, so its reason is compared instead. */
function kindOf(error: unknown): string {
  return error instanceof DriverFailure && error.reason === 'unreachable' ? error.reason : messageOf(error);
}
