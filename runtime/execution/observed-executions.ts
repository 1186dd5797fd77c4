import { type ActionStatistics, DURATION_BOUNDS } from '../action/action-statistics.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import type { AttemptEnd, ExecutionReport } from '../action/execution-report.js';
import { LogLimiter } from '../concurrency/log-limiter.js';
import type { LogEntry, Logger } from '../domain/logger.js';
import { ERROR_KINDS, type ErrorCode } from '../error-kinds.js';
import { type Span, traceIds } from '../tracing.js';

interface Counted extends ActionStatistics {
  readonly outcomes: Map<string, number>;
  readonly retries: Map<AttemptEnd, number>;
  readonly durations: number[];
  seconds: number;
}

/** What is observed of a request. */
interface Observed {
  readonly configuration: Pick<ExecutionConfiguration, 'onReport' | 'traceContext'>;
  readonly span: Span | undefined;
}

/** Of one action and one code. */
const LINES_PER_SECOND = 5;
/** Conflicts that the caller can repeat, and that a healthy system solves by itself. */
const CONFLICTS: ReadonlySet<string> = new Set(['FW_STALE_MODEL', 'FW_KEY_BUSY']);

/** Counts executions by action and outcome, and logs those that failed for the system's reasons or were slow. */
export class ObservedExecutions {
  readonly #log: LogLimiter | undefined;
  readonly #slowMs: number;
  readonly #actions = new Map<string, Counted>();

  /** @param slowMs an execution that takes longer is logged; 0: none is */
  constructor(log: Logger | undefined, slowMs: number) {
    this.#log = log && new LogLimiter(log);
    this.#slowMs = slowMs;
  }

  statistics(): readonly ActionStatistics[] {
    return [...this.#actions.values()];
  }

  /** Must be called once for each execution. Listeners and loggers that throw do not change its outcome. */
  ended(request: Observed, report: ExecutionReport): void {
    this.#count(report);
    try {
      const returned: unknown = request.configuration.onReport?.(report);
      if (returned instanceof Promise) returned.catch(() => {});
    } catch {}
    const isSlow = this.#slowMs > 0 && report.durationMs > this.#slowMs;
    const { action, errorCode } = report;
    if (isSlow || (errorCode !== undefined && isOfSystem(errorCode)))
      this.#log?.write(`${action} ${errorCode ?? 'slow'}`, () => entryOf(request, report), LINES_PER_SECOND);
  }

  #count({ action, attempts, replayed, durationMs, errorCode }: ExecutionReport): void {
    const counted = this.#of(action);
    add(counted.outcomes, errorCode ?? (replayed ? 'replayed' : 'ok'));
    const seconds = durationMs / 1_000;
    counted.seconds += seconds;
    let bucket = 0;
    while (bucket < DURATION_BOUNDS.length && seconds > (DURATION_BOUNDS[bucket] ?? 0)) bucket += 1;
    counted.durations[bucket] = (counted.durations[bucket] ?? 0) + 1;
    for (let at = 0; at < attempts.length - 1; at += 1) {
      const attempt = attempts[at];
      if (attempt !== undefined) add(counted.retries, attempt.end);
    }
  }

  #of(action: string): Counted {
    let counted = this.#actions.get(action);
    if (counted === undefined) {
      const durations = new Array<number>(DURATION_BOUNDS.length + 1).fill(0);
      counted = { action, outcomes: new Map(), retries: new Map(), durations, seconds: 0 };
      this.#actions.set(action, counted);
    }
    return counted;
  }
}

function entryOf({ span, configuration }: Observed, report: ExecutionReport): LogEntry {
  const { action, attempts, durationMs, errorCode } = report;
  return {
    level: 'warn',
    message: errorCode === undefined ? `${action} was slow` : `${action} failed: ${errorCode}`,
    action,
    actionIds: attempts.flatMap(({ actionIds }) => actionIds),
    attempts: attempts.map(({ end }) => end),
    durationMs: Math.round(durationMs),
    performMs: Math.round(sum(attempts.map(({ performMs }) => performMs))),
    writeMs: Math.round(sum(attempts.map((each) => each.durationMs - each.performMs))),
    pauseMs: Math.round(sum(attempts.map(({ pauseMs }) => pauseMs))),
    ...(errorCode === undefined ? {} : { code: errorCode }),
    ...traceIds(span, configuration.traceContext),
  };
}

/** Not a refusal of what the caller wants. */
function isOfSystem(code: string): boolean {
  const kind = ERROR_KINDS[code as ErrorCode] as { readonly status?: number } | undefined;
  return (kind?.status ?? 500) >= 500 || CONFLICTS.has(code);
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
