import { AsyncLocalStorage } from 'node:async_hooks';
import type { Entity, ModelDescriptor } from '../domain/entity.js';
import type { KeyLookup } from '../domain/natural-key.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { LateSpan } from '../tracing.js';
import type { AccessCheck } from './access-check.js';
import type { ActionPlan } from './action-plan.js';
import type { Reach } from './tenancy.js';

/** Reads the stored state of a model. */
export type LoadModel = () => Promise<Entity | undefined>;

/** A row to be read. */
export interface ReadRow {
  readonly model: ModelDescriptor;
  readonly id: string;
  readonly shard: ShardIdentifier;
}

/** Reads that see states which are not stored yet. */
export interface ScopedReads {
  /** The span of their statements. Undefined if the action is not traced. */
  readonly span: LateSpan | undefined;
  /**
   * The latest state of a model that this execution may start from: one that another action of this process has staged
   * and not yet committed, a committed one that the process remembers, or else the result of `load`. Reading a staged
   * state makes the execution depend on that action's outcome.
   */
  read(row: ReadRow, load: LoadModel): Promise<Entity | undefined> | Entity | undefined;
  /** As `read`, for the model that holds a natural key. */
  readByKey(lookup: KeyLookup, load: LoadModel): Promise<Entity | undefined>;
  /** Called before a query, which cannot see staged states: waits until those of its shard are settled. */
  beforeQuery(shard: ShardIdentifier): Promise<void>;
}

/** The context of one run of `perform`: repositories find the plan and its staged models here. */
export interface PerformScope {
  readonly actionName: string;
  readonly plan: ActionPlan;
  /** Aborted when the execution's caller gives up. */
  readonly signal: AbortSignal | undefined;
  /** Milliseconds until the execution's deadline. */
  remainingMs(): number;
  /** Absent: every read loads the stored state. */
  readonly reads?: ScopedReads | undefined;
  /** Records the models that repositories return, and restricts lists. Absent: the action has no rule. */
  readonly access?: Pick<AccessCheck, 'ask' | 'see' | 'follow' | 'visibleOf'> | undefined;
  /** The groups of shards that the principal may reach. Absent: all. */
  readonly reach?: Reach | undefined;
}

const storage = new AsyncLocalStorage<PerformScope>();

/** Runs `work` (synchronously up to its first await, and everything it awaits) inside a scope. */
export function runInPerformScope<T>(scope: PerformScope, work: () => T): T {
  return storage.run(scope, work);
}

/** The scope of the running `perform`, if any. */
export function currentPerformScope(): PerformScope | undefined {
  return storage.getStore();
}
