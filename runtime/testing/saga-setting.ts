import type { Clock } from '../domain/clock.js';
import type { Entity } from '../domain/entity.js';
import type { Caller } from '../domain/principal.js';
import type { ActionRunner } from '../execution/action-executor.js';
import type { SpecifiedApplication } from './memory-application.js';

/** A failure of the first attempts of one step. */
export interface SagaTrouble {
  readonly state: string;
  readonly point: 'before commit' | 'after commit';
  /** Number of attempts that fail. */
  readonly times: number;
  readonly error: Error;
}

/** An action that runs while the saga waits. */
export interface SagaSignal {
  /** State of the wait. */
  readonly state: string;
  /** Milliseconds after its begin. */
  readonly afterMs: number;
  readonly run: (executor: ActionRunner) => Promise<unknown>;
}

/** @internal */
export interface SagaSetting {
  readonly application: SpecifiedApplication;
  readonly clock: Clock;
  readonly models: readonly Entity[];
  readonly principal: Caller;
  readonly troubles: readonly SagaTrouble[];
  readonly signals: readonly SagaSignal[];
}
