import type { ActionPlan, StagedItem } from '../../action/action-plan.js';
import type { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { deadlines } from '../../concurrency/deadlines.js';
import type { ExecutionEnvironment } from '../../concurrency/execution-environment.js';
import { withoutSecrets } from '../../domain/shown-fields.js';
import { ApplicationError, DeadlineExceededError, FwError, messageOf } from '../../errors.js';
import type { EventFacts } from '../../persistence/codec/recorded-event.js';
import { flushStatement } from '../../persistence/write/flush-statement.js';
import { PackedArray } from '../../sharding/packed-array.js';
import { requireOneShard, requireVersion } from '../admission.js';
import type { ExecutionRequest } from '../execution-request.js';
import { requireKeys } from '../keys/planned-keys.js';
import { type PlanPart, routePlan, withSchedules } from '../routing.js';
import type { ShardGateways } from '../shard-gateways.js';
import { shardTransaction } from '../shard-transaction.js';
import { PerformRun } from './perform-run.js';

/** The effects that an action would have; `explain` does not apply them. */
export interface Explanation {
  readonly action: string;
  /** The shards that the plan touches, in staging order, as `(group, member)`. */
  readonly shards: readonly string[];
  readonly verdict: Verdict;
  /** One per shard. Empty if `perform` threw, or if its plan cannot be sent. */
  readonly parts: readonly ExplainedPart[];
}

/** The outcome that the action would have now. Constraints of the database are not checked. */
export type Verdict =
  | { readonly kind: 'would-write' }
  /** `perform` staged nothing: `execute` would write nothing. */
  | { readonly kind: 'nothing-staged' }
  /**
   * `perform` threw, or its plan is refused. `code` is the error's, such as `FW_CROSS_SHARD`; `UNKNOWN` for an error
   * without one.
   */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** The changes on one shard. */
interface ExplainedPart {
  readonly shard: string;
  readonly statement: ExplainedStatement;
  readonly items: readonly ExplainedItem[];
  /** Without secret fields. */
  readonly events: readonly EventFacts[];
  readonly schedules: readonly ExplainedSchedule[];
  /** Ids of scheduled actions that the plan would cancel. */
  readonly cancelledSchedules: readonly string[];
}

/** The statement of a shard transaction. Ids of the action and the events exist only in the explanation. */
interface ExplainedStatement {
  readonly text: string;
  /** Values of `$1`, `$2`...; arrays in PostgreSQL's text form. Without secret values. */
  readonly values: readonly unknown[];
}

/** An action that the plan would schedule. */
interface ExplainedSchedule {
  /** Exists only in the explanation. */
  readonly id: string;
  readonly action: string;
  readonly dueDate: Date;
}

/** One staged model of a plan. */
interface ExplainedItem {
  readonly kind: StagedItem['kind'];
  readonly model: string;
  readonly id: string;
  /** The version that the row must have; undefined for a new one. */
  readonly expectedVersion: number | undefined;
}

/**
 * Runs `perform` and returns the effects that its plan would have. Reads committed data only, not the staged states of
 * other executions, and sends only reads. Effects on idempotency keys and on the cross-shard journal are left out.
 */
export async function explainAction<Params, Result>(
  request: ExecutionRequest<Params, Result>,
  gateways: ShardGateways,
  environment: ExecutionEnvironment,
): Promise<Explanation> {
  const { action, configuration } = request;
  let plan: ActionPlan;
  try {
    plan = await stage(request, gateways, environment);
  } catch (error) {
    return { action: action.name, shards: [], verdict: refused(error), parts: [] };
  }
  const { items } = plan;
  const parts = withSchedules(routePlan(items, gateways.defaultShard), plan, gateways.defaultShard);
  const shards = parts.map(({ shard }) => shard.toString());
  try {
    const explained = parts.map((part) => explainPart(part, request, gateways, environment));
    const verdict = verdictOn(action.name, plan, parts, configuration, gateways);
    return { action: action.name, shards, verdict, parts: explained };
  } catch (error) {
    // A value that does not fit its column, for instance.
    return { action: action.name, shards, verdict: refused(error), parts: [] };
  }
}

async function stage<Params, Result>(
  { action, principal, reach, params, configuration, deadline }: ExecutionRequest<Params, Result>,
  gateways: ShardGateways,
  environment: ExecutionEnvironment,
): Promise<ActionPlan> {
  const run = new PerformRun({
    actionName: action.name,
    clock: environment.clock,
    signal: configuration.signal,
    remainingMs: () => deadline - environment.nowMs(),
    staged: gateways.staged,
    defaultShard: gateways.defaultShard,
    chaining: false,
    reach,
  });
  reach?.requireIds(params);
  const work = Promise.resolve(run.start(action, principal, params));
  await deadlines
    .race(work, deadline, () => new DeadlineExceededError(`${action.name} did not finish in time`))
    .catch((error: unknown) => {
      throw run.access?.shown(error) ?? error;
    });
  run.access?.require();
  run.seal();
  return run.plan;
}

function verdictOn(
  actionName: string,
  plan: ActionPlan,
  parts: readonly PlanPart[],
  configuration: ExecutionConfiguration,
  gateways: ShardGateways,
): Verdict {
  if (parts.length === 0) return { kind: 'nothing-staged' };
  try {
    requireVersion(plan.items, configuration);
    requireKeys(plan.keyed?.items);
    for (const { shard } of parts) gateways.gateway(shard);
    requireOneShard(actionName, parts, configuration);
    return { kind: 'would-write' };
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): Verdict {
  const message = messageOf(error);
  const known = error instanceof FwError || error instanceof ApplicationError;
  return { kind: 'refused', code: known ? error.code : 'UNKNOWN', message };
}

function explainPart<Params, Result>(
  part: PlanPart,
  request: ExecutionRequest<Params, Result>,
  gateways: ShardGateways,
  environment: ExecutionEnvironment,
): ExplainedPart {
  const { shard, items, cancelledSchedules = [] } = part;
  const { params, writeParams } = request;
  const now = environment.clock.now();
  const hasParams = typeof params === 'object' && params !== null;
  const facts = {
    startedDate: now,
    completedDate: now,
    params: hasParams ? writeParams?.(params) : undefined,
  };
  const write = shardTransaction(request, part, { ...facts, key: undefined }, withoutSecrets);
  const events = gateways.events.withoutSecrets();
  const origin = { shard, namespace: gateways.namespace, events };
  const { text, values } = flushStatement({ groups: [[write]], locked: 'skip' }, origin);
  return {
    shard: shard.toString(),
    statement: {
      text,
      values: values.map((value) => (value instanceof PackedArray ? value.toString() : value)),
    },
    items: items.map((item) => ({
      kind: item.kind,
      model: item.descriptor.name,
      id: item.model.id.getValue(),
      expectedVersion: item.kind === 'add' ? undefined : item.expectedVersion,
    })),
    events: items.flatMap((item) =>
      item.kind === 'expect' ? [] : item.events.map((event) => events.factsOf(event)),
    ),
    schedules: (write.schedules ?? []).map(({ id, actionName, dueDate }) => ({
      id,
      action: actionName,
      dueDate: new Date(dueDate),
    })),
    cancelledSchedules,
  };
}
