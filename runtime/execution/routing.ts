import { type ActionPlan, type StagedItem, shardAmong } from '../action/action-plan.js';
import type { PlannedSchedule } from '../action/planned-schedule.js';
import { ShardedId, shardOfUuid } from '../domain/id.js';
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

/** The scheduled and cancelled actions of a plan. */
export type PlannedSchedules = Pick<ActionPlan, 'schedules' | 'cancelledSchedules'>;

/**
 * Adds a plan's scheduled and cancelled actions to its shard transactions. A requested or cancelled id determines its
 * shard; all others are stored with the first shard transaction, which commits first. A plan without other changes runs
 * on the shard of the first sharded id among the scheduled params.
 */
export function withSchedules(
  parts: readonly PlanPart[],
  { schedules, cancelledSchedules }: PlannedSchedules,
  defaultShard: ShardIdentifier,
): readonly PlanPart[] {
  if (schedules.length === 0 && cancelledSchedules.length === 0) return parts;
  const byShard = new Map<ShardIdentifier, PlanPart>(parts.map((part) => [part.shard, part]));
  const partOn = (shard: ShardIdentifier): PlanPart => byShard.get(shard) ?? { shard, items: [] };
  for (const schedule of schedules) {
    const { settledId, params } = schedule;
    const [first] = byShard.keys();
    const shard =
      settledId === undefined ? (first ?? shardAmong(params) ?? defaultShard) : shardOfUuid(settledId);
    const part = partOn(shard);
    byShard.set(shard, { ...part, schedules: [...(part.schedules ?? []), schedule] });
  }
  for (const id of cancelledSchedules) {
    const part = partOn(shardOfUuid(id));
    byShard.set(part.shard, { ...part, cancelledSchedules: [...(part.cancelledSchedules ?? []), id] });
  }
  return [...byShard.values()];
}
