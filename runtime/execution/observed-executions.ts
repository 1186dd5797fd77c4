import type { ActionStatistics } from '../action/action-statistics.js';
import type { AttemptEnd } from '../action/execution-report.js';
import { Durations } from '../concurrency/durations.js';
import type { ExecutionEnvironment } from '../concurrency/execution-environment.js';
import { LogLimiter } from '../concurrency/log-limiter.js';
import type { LogEntry, Logger } from '../domain/logger.js';
import { ERROR_KINDS, type ErrorCode } from '../error-kinds.js';
import { FwError } from '../errors.js';
import { type Span, sampledTraceId, traceIds } from '../tracing.js';
import type { Tally } from './tally.js';

/** What is observed of a request. */
interface Observed {
  readonly action: { readonly name: string };
  readonly configuration: { readonly traceContext: string | undefined };
  readonly span: Span | undefined;
  readonly deadline: number;
  readonly timeoutMs: number;
}

interface Counted {
  readonly action: string;
  ok: number;
  replayed: number;
  readonly failures: Map<string, number>;
  readonly retries: Map<AttemptEnd, number>;
  readonly durations: Durations;
}

/** Of one action and one code. */
const LINES_PER_SECOND = 5;
/**
 * Answers of 409 that operators should see: conflicts that a healthy system solves by itself, and constraints that the
 * tables have and the code does not know, as beside a newer release.
 */
const NOTABLE: ReadonlySet<string> = new Set(['FW_STALE_MODEL', 'FW_KEY_BUSY', 'FW_CONSTRAINT_VIOLATION']);

/** Counts executions by action and outcome, and logs those that failed for the system's reasons or were slow. */
export class ObservedExecutions {
  readonly #log: LogLimiter | undefined;
  readonly #slowMs: number;
  readonly #environment: Pick<ExecutionEnvironment, 'nowMs'>;
  readonly #actions = new Map<string, Counted>();

  /** @param slowMs an execution that takes longer is logged; 0: none is */
  constructor(log: Logger | undefined, slowMs: number, environment: Pick<ExecutionEnvironment, 'nowMs'>) {
    this.#log = log && new LogLimiter(log);
    this.#slowMs = slowMs === 0 ? Number.POSITIVE_INFINITY : slowMs;
    this.#environment = environment;
  }

  statistics(): readonly ActionStatistics[] {
    return [...this.#actions.values()].map(({ ok, replayed, failures, durations, ...counted }) => ({
      ...counted,
      durations: durations.counts,
      seconds: durations.seconds,
      exemplars: durations.exemplars,
      outcomes: new Map([['ok', ok] as const, ['replayed', replayed] as const, ...failures]),
    }));
  }

  /** Must be called once for each execution. @param error undefined after success */
  ended(request: Observed, tally: Tally, error: unknown): void {
    const durationMs = this.#environment.nowMs() - (request.deadline - request.timeoutMs);
    const counted = this.#of(request.action.name);
    const code = codeOf(error);
    if (code !== undefined) add(counted.failures, code);
    else if (tally.isReplayed) counted.replayed += 1;
    else counted.ok += 1;
    counted.durations.add(durationMs, sampledTraceId(request.span));
    for (const end of tally.retries) add(counted.retries, end);
    if (durationMs > this.#slowMs || (code !== undefined && isOfSystem(code)))
      this.#log?.write(
        `${counted.action} ${code ?? 'slow'}`,
        () => entryOf(request, { tally, durationMs, code, error }),
        LINES_PER_SECOND,
      );
  }

  #of(action: string): Counted {
    let counted = this.#actions.get(action);
    if (counted === undefined) {
      const durations = new Durations();
      counted = { action, ok: 0, replayed: 0, failures: new Map(), retries: new Map(), durations };
      this.#actions.set(action, counted);
    }
    return counted;
  }
}

interface Ended {
  readonly tally: Tally;
  readonly durationMs: number;
  readonly code: string | undefined;
  readonly error: unknown;
}

function entryOf(
  { action, span, configuration }: Observed,
  { tally: { actionId, retries, performMs, pauseMs }, durationMs, code, error }: Ended,
): LogEntry {
  return {
    level: 'warn',
    message: code === undefined ? `${action.name} was slow` : `${action.name} failed: ${code}`,
    action: action.name,
    ...(code === undefined ? {} : { code }),
    // The messages of others may have data of callers.
    ...(error instanceof FwError ? { reason: error.message } : {}),
    ...(actionId === undefined ? {} : { actionId }),
    ...(retries.length === 0 ? {} : { retries }),
    durationMs: Math.round(durationMs),
    performMs,
    pauseMs: Math.round(pauseMs),
    ...traceIds(span, configuration.traceContext),
  };
}

/** Not a refusal of what the caller wants. */
function isOfSystem(code: string): boolean {
  const kind = ERROR_KINDS[code as ErrorCode] as { readonly status?: number } | undefined;
  return (kind?.status ?? 500) >= 500 || NOTABLE.has(code);
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The code of an error; `UNKNOWN` for a foreign one. Undefined for none. */
export function codeOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN';
}
