import type { StagedItem } from '../action/action-plan.js';
import type { PlannedSchedule } from '../action/planned-schedule.js';
import type { Entity } from '../domain/entity.js';
import type { ModelEvent } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { OverdueAction } from '../sagas/overdue-action.js';
import { SagaWokenEvent, sagaRunModel } from '../sagas/saga-run.js';
import { stepRecordModel } from '../sagas/step-record.js';
import type { MemoryApplication } from './memory-application.js';

/** The effects that an admitted attempt would commit. */
export interface Performed<Result> {
  readonly result: Result;
  /** Staged models, in staging order. */
  readonly items: readonly StagedItem[];
  /** All events of the staged models, in the order of the outbox. */
  readonly events: readonly ModelEvent<unknown>[];
  /** The shards that the plan touches, in staging order. */
  readonly shards: readonly ShardIdentifier[];
  /** Scheduled actions. */
  readonly schedules: readonly PlannedSchedule[];
  /** Ids of cancelled schedules. */
  readonly cancelledSchedules: readonly string[];
  /** The state of a model that is stored afterwards. */
  stored<M extends Entity>(model: M): M | undefined;
}

/** The runtime's own tables. */
const OWN: ReadonlySet<string> = new Set([sagaRunModel.table, stepRecordModel.table]);

/** The effects of all commits, in order, without the runtime's own records of sagas. */
export function performedIn<Result>(
  { commits, store }: Pick<MemoryApplication, 'commits' | 'store'>,
  result: Result,
): Performed<Result> {
  const plans = commits.map(({ plan }) => plan);
  const items = plans.flatMap((plan) => plan.items.filter(({ descriptor }) => !OWN.has(descriptor.table)));
  const schedules = plans.flatMap((plan) => plan.schedules?.flatMap(({ planned }) => planned ?? []) ?? []);
  return {
    result,
    items,
    events: eventsOf(items).filter((event) => !(event instanceof SagaWokenEvent)),
    shards: [...new Set(commits.map(({ shard }) => shard))],
    schedules: withoutTimeLimits(schedules),
    cancelledSchedules: plans.flatMap(({ cancelledSchedules = [] }) => cancelledSchedules),
    stored: (model) => store.stored(model),
  };
}

/** Without the time limits of sagas. */
export function withoutTimeLimits(schedules: readonly PlannedSchedule[]): readonly PlannedSchedule[] {
  return schedules.filter(({ actionClass }) => actionClass !== OverdueAction);
}

/** The events of staged models, in the order of the outbox. */
export function eventsOf(items: readonly StagedItem[]): readonly ModelEvent<unknown>[] {
  return items.flatMap((item) => (item.kind === 'expect' ? [] : item.events));
}
