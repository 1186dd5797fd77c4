import { uuid7 } from '../../domain/id-source.js';
import type { EventCatalog } from '../codec/event-catalog.js';
import type { JournalOpening } from '../journal/journal-store.js';
import type { EventRow, TracedSchedule } from './eventlog-tables.js';
import type { KeyClaim } from './idempotency-key.js';
import type { PlanWrite } from './plan-write.js';
import type { NumberedRow } from './statement-rows.js';

/**
 * What plans leave in the tables of `eventlog`, besides the rows of their actions. Each row has the number of its plan.
 */
export interface FlushRecords {
  readonly events: NumberedRow<EventRow>[];
  readonly keys: NumberedRow<KeyClaim>[];
  readonly schedules: NumberedRow<TracedSchedule>[];
  /** Ids of scheduled actions that are taken back. */
  readonly cancellations: NumberedRow<string>[];
  readonly journal: NumberedRow<JournalOpening>[];
}

/** @param shardBits bits of the shard in new ids */
export function recordsOf(
  plans: readonly PlanWrite[],
  catalog: EventCatalog,
  shardBits: number,
): FlushRecords {
  const records: FlushRecords = { events: [], keys: [], schedules: [], cancellations: [], journal: [] };
  plans.forEach((plan, index) => {
    const number = index + 1;
    const { key, journal, traceContext, schedules = [], cancelledSchedules = [] } = plan;
    for (const item of plan.items) {
      if (item.kind === 'expect') continue;
      for (const event of item.events) {
        const [id, known, modelVersion] = [uuid7.next(shardBits), catalog.of(event), item.model.version];
        records.events.push({ number, row: { id, event, known, modelVersion, traceContext } });
      }
    }
    if (key !== undefined) records.keys.push({ number, row: key });
    for (const row of schedules) records.schedules.push({ number, row: { ...row, traceContext } });
    for (const row of cancelledSchedules) records.cancellations.push({ number, row });
    if (journal !== undefined) records.journal.push({ number, row: journal });
  });
  return records;
}

/** Whether no table gets more than one row. */
export function areSingle({ events, keys, schedules, cancellations, journal }: FlushRecords): boolean {
  return Math.max(events.length, keys.length, schedules.length, cancellations.length, journal.length) <= 1;
}
