import { OverdueAction } from '../sagas/overdue-action.js';
import { SagaWokenEvent, sagaRunModel } from '../sagas/saga-run.js';
import { stepRecordModel } from '../sagas/step-record.js';
import type { MemoryCommit } from './memory-executor.js';
import type { Performed } from './perform-once.js';

/** The runtime's own tables. */
const OWN: ReadonlySet<string> = new Set([sagaRunModel.table, stepRecordModel.table]);

/** Combines several commits into one: all their effects, in order, without the runtime's own records of sagas. */
export function performedIn<Result>(commits: readonly MemoryCommit[], result: Result): Performed<Result> {
  const all = commits.map(({ performed }) => performed);
  return {
    result,
    items: all.flatMap(({ items }) => items.filter(({ descriptor }) => !OWN.has(descriptor.table))),
    events: all.flatMap(({ events }) => events.filter((event) => !(event instanceof SagaWokenEvent))),
    shards: [...new Set(all.flatMap(({ shards }) => shards))],
    schedules: all.flatMap(({ schedules }) =>
      schedules.filter(({ actionClass }) => actionClass !== OverdueAction),
    ),
    cancelledSchedules: all.flatMap(({ cancelledSchedules }) => cancelledSchedules),
  };
}
