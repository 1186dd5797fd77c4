import { type ActionPlan, shardAmong } from '../action/action-plan.js';
import type { ActionRegistry } from '../action/action-registry.js';
import { shardOfUuid } from '../domain/id.js';
import { uuid7 } from '../domain/id-source.js';
import { compileObjectWriter } from '../domain/json-writer.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { instantText } from '../persistence/codec/column-codec.js';
import type { ScheduleRow } from '../persistence/write/plan-write.js';
import type { Leg } from './routing.js';

/** What a plan has to do with scheduled actions. */
export type PlannedSchedules = Pick<ActionPlan, 'schedules' | 'cancelledSchedules'>;

/**
 * Puts what a plan schedules and cancels on its legs. An id that was asked for, or that is cancelled, says its shard;
 * everything else lies on the first leg, which commits first. A plan that does nothing else lives where the first
 * sharded id among the scheduled params does.
 */
export function withSchedules(
  legs: readonly Leg[],
  { schedules, cancelledSchedules }: PlannedSchedules,
  defaultShard: ShardIdentifier,
): readonly Leg[] {
  if (schedules.length === 0 && cancelledSchedules.length === 0) return legs;
  const byShard = new Map<ShardIdentifier, Leg>(legs.map((leg) => [leg.shard, leg]));
  const legOn = (shard: ShardIdentifier): Leg => byShard.get(shard) ?? { shard, items: [] };
  for (const schedule of schedules) {
    const { settledId, params } = schedule;
    const [first] = byShard.keys();
    const shard =
      settledId === undefined ? (first ?? shardAmong(params) ?? defaultShard) : shardOfUuid(settledId);
    const leg = legOn(shard);
    byShard.set(shard, { ...leg, schedules: [...(leg.schedules ?? []), schedule] });
  }
  for (const id of cancelledSchedules) {
    const leg = legOn(shardOfUuid(id));
    byShard.set(leg.shard, { ...leg, cancelledSchedules: [...(leg.cancelledSchedules ?? []), id] });
  }
  return [...byShard.values()];
}

/** The rows of a leg's scheduled actions. @throws UnknownActionError for a class that is not registered */
export function scheduleRows(
  { shard, schedules = [] }: Leg,
  registry: ActionRegistry,
): readonly ScheduleRow[] {
  return schedules.map(({ dueDate, actionClass, params, settledId }) => {
    const { name, params: fields, version = 1 } = registry.find(actionClass);
    return {
      id: settledId ?? uuid7.next(shard.bits),
      dueDate: instantText(dueDate),
      actionName: name,
      params: compileObjectWriter(fields)(params),
      paramsVersion: version,
    };
  });
}
