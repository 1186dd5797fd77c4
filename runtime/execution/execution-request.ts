import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { ActionRegistry } from '../action/action-registry.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import type { Reach } from '../action/tenancy.js';
import type { ExecutionEnvironment } from '../concurrency/execution-environment.js';
import type { JsonWriter } from '../domain/json-codec.js';
import type { Logger } from '../domain/logger.js';
import type { KnownPrincipal } from '../domain/principal.js';
import type { Span } from '../tracing.js';
import type { RowContention } from './contention/row-contention.js';
import type { KeyGuard } from './keys/key-guard.js';
import type { ObservedExecutions } from './observed-executions.js';
import type { Running } from './running.js';
import type { ShardGateways } from './shard-gateways.js';

/** One call of `execute`. */
export interface ExecutionRequest<Params, Result> {
  readonly action: ActionDescriptor<Params, Result>;
  /** Undefined unless the application traces. */
  readonly span: Span | undefined;
  readonly principal: KnownPrincipal;
  /** The groups of shards that the principal may reach. Undefined: all. */
  readonly reach: Reach | undefined;
  readonly params: Params;
  /** The actions that plans may schedule. */
  readonly registry: ActionRegistry;
  readonly configuration: ExecutionConfiguration;
  /** Writes the params as JSON text. Undefined if they are not stored. */
  readonly writeParams: JsonWriter<Params> | undefined;
  /** On the environment's monotonic clock. */
  readonly deadline: number;
  readonly timeoutMs: number;
  readonly maximumAttempts: number;
  /** Set if the execution runs under an idempotency key. */
  readonly guard: KeyGuard | undefined;
}

/** Dependencies that all executions of an executor share. */
export interface ExecutionContext {
  readonly gateways: ShardGateways;
  readonly environment: ExecutionEnvironment;
  readonly log: Logger | undefined;
  readonly rowContention: RowContention;
  /** Counts the running executions. */
  readonly running: Running;
  /** Counts and logs the executions that have ended. */
  readonly observed: ObservedExecutions;
}
