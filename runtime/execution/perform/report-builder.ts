import type {
  AttemptEnd,
  AttemptReport,
  ExecutionReport,
  WriteReport,
} from '../../action/execution-report.js';
import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';

type Attempt = { -readonly [Key in keyof AttemptReport]: AttemptReport[Key] };

/** Collects a report while an execution runs. */
export class ReportBuilder {
  readonly #action: string;
  readonly #environment: Pick<ExecutionEnvironment, 'nowMs'>;
  readonly #startedMs: number;
  readonly #attempts: Attempt[] = [];
  #attemptStartedMs = 0;
  #actionIds: string[] = [];
  #write: WriteReport | undefined;
  #isOpen = false;
  replayed = false;

  constructor(action: string, environment: Pick<ExecutionEnvironment, 'nowMs'>) {
    this.#action = action;
    this.#environment = environment;
    this.#startedMs = environment.nowMs();
  }

  startAttempt(): void {
    this.#attemptStartedMs = this.#environment.nowMs();
    this.#actionIds = [];
    this.#write = undefined;
    this.#isOpen = true;
  }

  tried(actionId: string): void {
    this.#actionIds.push(actionId);
  }

  written(write: WriteReport): void {
    this.#write = write;
  }

  endAttempt(end: AttemptEnd): void {
    this.#isOpen = false;
    this.#attempts.push({
      number: this.#attempts.length + 1,
      end,
      actionIds: this.#actionIds,
      durationMs: this.#environment.nowMs() - this.#attemptStartedMs,
      pauseMs: 0,
      write: this.#write,
    });
  }

  paused(pauseMs: number): void {
    const last = this.#attempts.at(-1);
    if (last !== undefined) last.pauseMs = pauseMs;
  }

  /**
   * Calls the listener after the outcome is final: a listener that throws or rejects does not change it.
   *
   * @param error the error of the execution; undefined after success
   */
  notify(listener: ((report: ExecutionReport) => void) | undefined, error: unknown): void {
    try {
      const returned: unknown = listener?.(this.#build(error));
      if (returned instanceof Promise) returned.catch(() => {});
    } catch {}
  }

  #build(error: unknown): ExecutionReport {
    if (this.#isOpen) this.endAttempt('failed');
    return {
      action: this.#action,
      attempts: this.#attempts,
      replayed: this.replayed,
      durationMs: this.#environment.nowMs() - this.#startedMs,
      errorCode: error === undefined ? undefined : codeOf(error),
    };
  }
}

/** The code of an error; `UNKNOWN` for a foreign one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}
