import type { StagedItem } from '../../action/action-plan.js';
import { RecordedEvent } from '../../persistence/codec/recorded-event.js';
import type { WriteGroup } from '../../persistence/shard-store.js';
import type { HandlerDescriptor } from './handler-descriptor.js';

/**
 * Decides whether a commit schedules an action or has events that a consumer selects, so that other commits wake none.
 *
 * @param all whether a consumer selects events of every class. Default false
 */
export function interestOf(
  handlers: readonly HandlerDescriptor[],
  all = false,
): (groups: readonly WriteGroup[]) => boolean {
  const classes = new Set<unknown>(
    handlers.flatMap(({ events }) => events.map(({ eventClass }) => eventClass())),
  );
  const isWanted = (item: StagedItem): boolean =>
    item.kind !== 'expect' &&
    item.events.some((event) => all || event instanceof RecordedEvent || classes.has(event.constructor));
  return (groups) =>
    groups.some((plans) =>
      plans.some(({ items, schedules = [] }) => schedules.length > 0 || items.some(isWanted)),
    );
}
