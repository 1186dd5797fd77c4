import type { StagedItem } from '../action/action-plan.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { CrossShardException, PreconditionFailedError } from '../errors.js';
import { type Leg, routePlan } from './routing.js';

/** A sealed plan and the terms that it runs under. */
export interface PlanToAdmit {
  readonly actionName: string;
  readonly items: readonly StagedItem[];
  readonly configuration: ExecutionConfiguration;
  /** Where models without a sharded id live. */
  readonly defaultShard: ShardIdentifier;
}

/**
 * Splits a plan by shard, unless the caller's terms forbid it. Nothing has been written by then.
 *
 * @throws PreconditionFailedError if `ifVersion` does not hold
 * @throws CrossShardException if it touches several shards without allowance
 */
export function admitPlan(plan: PlanToAdmit): readonly Leg[] {
  requireVersion(plan.items, plan.configuration);
  const legs = routePlan(plan.items, plan.defaultShard);
  if (legs.length > 1 && !plan.configuration.allowCrossShard) {
    throw new CrossShardException(
      plan.actionName,
      legs.map(({ shard }) => shard.toString()),
    );
  }
  return legs;
}

/** `ifVersion` speaks about what an update starts from, so it is checked again after each lost race. */
function requireVersion(items: readonly StagedItem[], { ifVersion }: ExecutionConfiguration): void {
  if (ifVersion === undefined) return;
  const item = items.find(({ model }) => model.id.getValue() === ifVersion.id);
  if (item === undefined || item.kind === 'add' || ifVersion.versions.includes(item.expectedVersion)) return;
  throw new PreconditionFailedError(
    `${item.descriptor.name} ${ifVersion.id} has version ${item.expectedVersion}, not ${ifVersion.versions.join(' or ')}`,
  );
}
