import { time } from '../../concurrency/time.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { DATABASE, type Span, startShared } from '../../tracing.js';
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

/** Whether the outcome of a plan is not known yet. */
export function isPending({ pending }: QueuedPlan): boolean {
  return pending.state === 'pending';
}

/** The span of a statement with these groups, if one of their attempts has a span. */
export function spanOf(groups: readonly PlanGroup[], shard: ShardIdentifier): Span | undefined {
  const span = startShared('flush', spansOf(groups), { kind: 'CLIENT', attributes: DATABASE });
  return span?.setAttributes({
    'fw.shard': shard.toString(),
    'fw.flush.plans': plansIn(groups),
    'fw.flush.longest_chain': Math.max(...groups.map(({ length }) => length)),
  });
}

function* spansOf(groups: readonly PlanGroup[]): Iterable<Span | undefined> {
  for (const group of groups) for (const { span } of group) yield span;
}
