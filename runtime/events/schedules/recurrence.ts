import { createHash } from 'node:crypto';
import type { ActionRegistry } from '../../action/action-registry.js';
import type { FwScheduleOptions } from '../../action/markers.js';
import { SYSTEM_NAME } from '../../action/planned-schedule.js';
import { type CronTime, cronProblem } from '../../cron.js';
import type { JsonObject } from '../../domain/json.js';
import { ownPrincipal } from '../../domain/principal.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ValidationError } from '../../errors.js';

/** How an action recurs. It is stored, so that processes of two releases follow the same one. */
export interface Recurrence extends CronTime, Required<Omit<FwScheduleOptions, 'principal'>> {
  /** Full name of the principal. */
  readonly principal: string;
  readonly paramsVersion: number;
}

/** The recurring actions of a registry, by name. @throws ValidationError for invalid options */
export function recurrencesOf(registry: ActionRegistry): ReadonlyMap<string, Recurrence> {
  const all = new Map<string, Recurrence>();
  for (const { name, schedule, version: paramsVersion = 1 } of registry.all()) {
    if (schedule === undefined) continue;
    const { cron, zone = 'UTC', on = 'once', missed = 'once', overlap = false } = schedule;
    const { principal = 'schedule' } = schedule;
    const problem = SYSTEM_NAME.test(principal)
      ? cronProblem({ cron, zone })
      : `the principal ${JSON.stringify(principal)} does not have 1 to 100 visible ASCII characters`;
    if (problem !== undefined)
      throw new ValidationError(`@FwSchedule of ${name}: ${problem}`, { field: 'schedule' });
    const actor = ownPrincipal(`system:${principal}`).name;
    all.set(name, { cron, zone, on, missed, overlap, principal: actor, paramsVersion });
  }
  return all;
}

/** The params of a run: its shard, if there is one on each. */
export function runParams({ on }: Recurrence, { group, member }: ShardIdentifier): JsonObject {
  return on === 'each-shard' ? { group, member } : {};
}

/**
 * The id of the run at a due time on a shard: a version 7 UUID of that time. It is always the same, so that no due time
 * has two runs, and neither do two effects.
 */
export function runId(actionName: string, dueDate: Date, shard: ShardIdentifier): string {
  const time = dueDate.getTime().toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(actionName).digest('hex');
  const place = (0x8000 | shard.bits).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${place}-${hash.slice(3, 15)}`;
}
