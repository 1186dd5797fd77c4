import { deadlines } from '../concurrency/deadlines.js';
import type { ExecutionEnvironment } from '../concurrency/execution-environment.js';
import { AbortedError } from '../errors.js';
import { deadlineExceeded } from './execution-errors.js';
import type { ExecutionRequest } from './execution-request.js';
import { orAborted } from './perform/until-aborted.js';
import { LEAST_MS } from './retry-policy.js';

type Limits = Pick<ExecutionRequest<never, unknown>, 'configuration' | 'deadline' | 'timeoutMs'> & {
  readonly action: { readonly name: string };
};

/** The deadline and the abort signal of one execution. */
export class TimeLimit {
  readonly #limits: Limits;
  readonly #environment: ExecutionEnvironment;
  /** The conflict of the last attempt. Undefined if only executions of this process superseded it. */
  lost: Error | undefined;

  constructor(limits: Limits, environment: ExecutionEnvironment) {
    this.#limits = limits;
    this.#environment = environment;
  }

  remainingMs(): number {
    return this.#limits.deadline - this.#environment.nowMs();
  }

  /** @throws AbortedError, or the error at the deadline, if no further attempt may start */
  check(): void {
    if (this.#limits.configuration.signal?.aborted === true) {
      throw new AbortedError('The execution was aborted before anything was sent');
    }
    if (this.remainingMs() <= (this.lost === undefined ? 0 : LEAST_MS)) throw this.#exceeded();
  }

  /** Settles as the work does, unless the deadline comes first or the caller aborts: before anything is sent. */
  within<T>(work: Promise<T>): Promise<T> {
    const { deadline, configuration } = this.#limits;
    const late = (): Error => deadlineExceeded(this.#limits);
    return deadlines.race(orAborted(work, configuration.signal), deadline, late);
  }

  /** Waits for other executions, until the deadline or until the caller aborts. */
  async wait(others: Promise<void>): Promise<void> {
    const { deadline, configuration } = this.#limits;
    await deadlines.race(orAborted(others, configuration.signal), deadline, () => this.#exceeded());
    this.check();
  }

  /** The error at the deadline: the last conflict instead of a bare timeout. */
  #exceeded(): Error {
    return this.lost ?? deadlineExceeded(this.#limits);
  }
}
