import { AsyncLocalStorage } from 'node:async_hooks';
import type { ExecutionReport } from '../../runtime/action/execution-report.js';
import type { Found, PlannedItem, Request, Script } from './script.js';

/** One read of one run of `perform`. */
export interface RecordedRead {
  readonly kind: Request['kind'];
  /** Logical time of the request. */
  readonly tick: number;
  readonly found: readonly Found[];
}

/** One run of `perform`. */
export interface Trace {
  readonly writer: string;
  readonly reads: RecordedRead[];
  readonly items: PlannedItem[];
}

/** The settings of an execution besides its script. */
export interface Terms {
  readonly chaining: boolean;
  readonly allowCrossShard: boolean;
  readonly principal: string;
  readonly key: string | undefined;
  /** Slot key and version of `ifVersion`. */
  readonly ifVersion: { readonly slot: string; readonly version: number } | undefined;
  /** Undefined: the executor's default. */
  readonly timeoutMs: number | undefined;
  /** Abort after this time from the start, in milliseconds. */
  readonly abortMs: number | undefined;
}

export type Answer =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: unknown };

/** One call of `execute` with all facts that the checker needs. */
export interface ExecutionRecord {
  readonly number: number;
  /** Index of the executor that ran it. */
  readonly executor: number;
  readonly script: Script;
  readonly terms: Terms;
  readonly startTick: number;
  readonly traces: Trace[];
  answer: Answer | undefined;
  answerTick: number;
  report: ExecutionReport | undefined;
}

let ticks = 0;

/** The next tick of the logical clock that all executors of this process share. */
export function tick(): number {
  ticks += 1;
  return ticks;
}

/** The execution whose `perform` is currently running. */
export const currentExecution: AsyncLocalStorage<ExecutionRecord> = new AsyncLocalStorage();
