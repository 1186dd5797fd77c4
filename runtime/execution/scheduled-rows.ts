import type { PlannedAction } from '../action/action-plan.js';
import type { ActionRegistry } from '../action/action-registry.js';
import { ShardedId } from '../domain/id.js';
import { uuid7 } from '../domain/id-source.js';
import { compileObjectWriter } from '../domain/json-writer.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { instantText } from '../persistence/column-codec.js';
import type { ScheduleRow } from '../persistence/plan-write.js';
import type { Leg } from './routing.js';

/**
 * Puts what a plan schedules on its first leg, which commits first. A plan that does nothing else lives where the first
 * sharded id among the scheduled params does.
 */
export function withSchedules(
  legs: readonly Leg[],
  schedules: readonly PlannedAction[],
  defaultShard: ShardIdentifier,
): readonly Leg[] {
  if (schedules.length === 0) return legs;
  const [first, ...others] = legs;
  return [
    { ...(first ?? { shard: shardOfParams(schedules) ?? defaultShard, items: [] }), schedules },
    ...others,
  ];
}

/** The rows of a leg's scheduled actions. @throws UnknownActionError for a class that is not registered */
export function scheduleRows(
  { shard, schedules = [] }: Leg,
  registry: ActionRegistry,
): readonly ScheduleRow[] {
  return schedules.map(({ dueDate, actionClass, params }) => {
    const { name, params: fields } = registry.find(actionClass);
    return {
      id: uuid7.next(shard.bits),
      dueDate: instantText(dueDate),
      actionName: name,
      params: compileObjectWriter(fields)(params),
    };
  });
}

function shardOfParams(schedules: readonly PlannedAction[]): ShardIdentifier | undefined {
  for (const { params } of schedules) {
    for (const value of Object.values(params))
      if (value instanceof ShardedId) return value.resolveShardIdentifier();
  }
  return undefined;
}
