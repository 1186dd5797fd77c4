import type { StagedItem } from '../action/action-plan.js';
import type { PlannedSchedule } from '../action/planned-schedule.js';
import { ShardedId } from '../domain/id.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';

/** The part of a plan for one shard. */
export interface PlanPart {
  readonly shard: ShardIdentifier;
  readonly items: readonly StagedItem[];
  /** Scheduled actions that this shard transaction stores. Default none. */
  readonly schedules?: readonly PlannedSchedule[];
  /** Ids of scheduled actions that this shard transaction cancels. Default none. */
  readonly cancelledSchedules?: readonly string[];
}

/** Whether the shard transaction stores at most an idempotency key. */
export function isEmpty({ items, schedules, cancelledSchedules }: PlanPart): boolean {
  return items.length === 0 && schedules === undefined && cancelledSchedules === undefined;
}

/** Splits a plan by shard, in staging order. Models without a sharded id live on the default shard. */
export function routePlan(items: readonly StagedItem[], defaultShard: ShardIdentifier): readonly PlanPart[] {
  const [first] = items;
  if (first === undefined) return [];
  const shard = shardOf(first, defaultShard);
  if (items.every((item) => shardOf(item, defaultShard) === shard)) return [{ shard, items }];
  const parts = new Map<ShardIdentifier, StagedItem[]>();
  for (const item of items) {
    const own = shardOf(item, defaultShard);
    const part = parts.get(own);
    if (part === undefined) parts.set(own, [item]);
    else part.push(item);
  }
  return [...parts].map(([own, partItems]) => ({ shard: own, items: partItems }));
}

function shardOf({ model: { id } }: StagedItem, defaultShard: ShardIdentifier): ShardIdentifier {
  return id instanceof ShardedId ? id.resolveShardIdentifier() : defaultShard;
}
