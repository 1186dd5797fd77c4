import { type ActionPlan, shardAmong } from '../action/action-plan.js';
import type { ActionRegistry } from '../action/action-registry.js';
import { shardOfUuid } from '../domain/id.js';
import { uuid7 } from '../domain/id-source.js';
import { compileObjectWriter } from '../domain/json-writer.js';
import { instantText } from '../domain/kinds/instant-kind.js';
import { ownPrincipal } from '../domain/principal.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { ScheduleRow } from '../persistence/write/plan-write.js';
import type { PlanPart } from './routing.js';

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

/**
 * The rows of a shard transaction's scheduled actions. @throws UnknownActionError for a class that is not registered
 */
export function scheduleRows(
  { shard, schedules = [] }: PlanPart,
  registry: ActionRegistry,
): readonly ScheduleRow[] {
  return schedules.map((planned) => {
    const { dueDate, afterMs, actionClass, params, principal, settledId } = planned;
    const { name, params: fields, version = 1 } = registry.find(actionClass);
    return {
      id: settledId ?? uuid7.next(shard.bits),
      dueDate: instantText(dueDate),
      afterMs,
      actionName: name,
      params: compileObjectWriter(fields)(params),
      paramsVersion: version,
      principal: principal === undefined ? undefined : ownPrincipal(`system:${principal}`).name,
      planned,
    };
  });
}
