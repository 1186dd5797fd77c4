import { time } from '../../concurrency/time.js';
import type { QueuedPlan } from './queued-plan.js';

/** Plans that are applied together or not at all, in the order in which they were sealed. */
export type PlanGroup = readonly QueuedPlan[];

export function plansIn(groups: readonly PlanGroup[]): number {
  return groups.reduce((sum, group) => sum + group.length, 0);
}

/** Whether all its plans have more time left than this. */
export function haveTime(group: PlanGroup, milliseconds: number): boolean {
  const now = time.nowMs();
  return group.every(({ deadline }) => deadline > now + milliseconds);
}

/** Whether all its plans touch the same single row. */
export function touchOneRow(group: PlanGroup): boolean {
  const row = group[0]?.touches[0]?.row;
  return group.every(({ touches }) => touches.length === 1 && touches[0]?.row === row);
}

export function forEachRow(groups: readonly PlanGroup[], visit: (row: string) => void): void {
  for (const group of groups) for (const { touches } of group) for (const { row } of touches) visit(row);
}
