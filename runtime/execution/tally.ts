import type { AttemptEnd, AttemptReport, ExecutionReport } from '../action/execution-report.js';
import type { ExecutionEnvironment } from '../concurrency/execution-environment.js';
import type { ActionRow } from '../persistence/write/plan-write.js';

type Attempt = { -readonly [Key in keyof AttemptReport]: AttemptReport[Key] };

/** A report while its execution runs. */
interface OpenReport {
  readonly action: string;
  readonly environment: Pick<ExecutionEnvironment, 'nowMs'>;
  readonly startedMs: number;
  readonly attempts: Attempt[];
  /** Of the present attempt, until it has ended. */
  attempt: { readonly startedMs: number; readonly actionIds: string[] } | undefined;
}

const NONE: readonly AttemptEnd[] = Object.freeze([]);

/** What an execution has done. It takes no time of its own, because every execution has one. */
export class Tally {
  /** How the attempts ended that were followed by another one. */
  retries: readonly AttemptEnd[] = NONE;
  /** Id of the last attempt that was sent. */
  actionId: string | undefined;
  performMs = 0;
  pauseMs = 0;
  isReplayed = false;
  #started: Date | undefined;
  readonly #report: OpenReport | undefined;

  /** @param reported of an execution that is to be reported. Default: there is no report */
  constructor(reported?: Pick<OpenReport, 'action' | 'environment'>) {
    this.#report = reported && {
      ...reported,
      startedMs: reported.environment.nowMs(),
      attempts: [],
      attempt: undefined,
    };
  }

  /** Starts an attempt. */
  begin(): void {
    const report = this.#report;
    if (report !== undefined) report.attempt = { startedMs: report.environment.nowMs(), actionIds: [] };
  }

  /** A plan is completed when `perform` has ended. */
  sent({ id, startedDate, completedDate }: ActionRow): void {
    // An attempt may send several shard transactions.
    if (this.#started !== startedDate) this.performed(startedDate, completedDate);
    this.#started = startedDate;
    this.actionId = id;
    this.#report?.attempt?.actionIds.push(id);
  }

  performed(startedDate: Date, completedDate: Date): void {
    this.performMs += completedDate.getTime() - startedDate.getTime();
  }

  /** Another attempt follows. */
  retried(end: AttemptEnd): void {
    this.retries = [...this.retries, end];
    this.ended(end);
  }

  paused(pauseMs: number): void {
    this.pauseMs += pauseMs;
    const last = this.#report?.attempts.at(-1);
    if (last !== undefined) last.pauseMs = pauseMs;
  }

  /** Ends the attempt. */
  ended(end: AttemptEnd, write?: AttemptReport['write']): void {
    const report = this.#report;
    if (report?.attempt === undefined) return;
    const { startedMs, actionIds } = report.attempt;
    const durationMs = report.environment.nowMs() - startedMs;
    report.attempts.push({
      number: report.attempts.length + 1,
      end,
      actionIds,
      durationMs,
      pauseMs: 0,
      write,
    });
    report.attempt = undefined;
  }

  /**
   * Calls the listener after the outcome is final: a listener that throws or rejects does not change it.
   *
   * @param errorCode of the execution; undefined after success
   */
  notify(listener: ((report: ExecutionReport) => void) | undefined, errorCode: string | undefined): void {
    const report = this.#report;
    if (report === undefined || listener === undefined) return;
    this.ended('failed');
    const { action, environment, startedMs, attempts } = report;
    const durationMs = environment.nowMs() - startedMs;
    try {
      const returned: unknown = listener({
        action,
        attempts,
        replayed: this.isReplayed,
        durationMs,
        errorCode,
      });
      if (returned instanceof Promise) returned.catch(() => {});
    } catch {}
  }
}
