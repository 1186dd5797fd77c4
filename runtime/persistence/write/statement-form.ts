import {
  ACTIONS,
  ACTIONS_WITH_CLAIMS,
  CANCELLATIONS,
  EVENTS,
  JOURNAL,
  KEYS,
  SCHEDULES,
  SCHEDULES_WITH_CLAIMS,
  type TracedSchedule,
} from './eventlog-tables.js';
import type { FlushRecords } from './flush-records.js';
import type { ActionRow } from './plan-write.js';
import { cte, type StatementBuilder } from './statement-builder.js';
import {
  type BoundRows,
  type Cell,
  type InsertedTable,
  insertText,
  type NumberedRow,
} from './statement-rows.js';

/** What a flush without version checks answers: all its groups are applied, or it fails. */
export const ALL_APPLIED = 'all';

/** A form of the flush statement. */
export abstract class StatementForm {
  protected readonly builder: StatementBuilder;
  protected readonly actionTable: InsertedTable<ActionRow>;
  readonly #scheduleTable: InsertedTable<TracedSchedule>;

  protected constructor(builder: StatementBuilder, actions: readonly ActionRow[]) {
    this.builder = builder;
    const hasClaims = actions.some(({ claims }) => claims !== undefined);
    this.actionTable = hasClaims ? ACTIONS_WITH_CLAIMS : ACTIONS;
    this.#scheduleTable = hasClaims ? SCHEDULES_WITH_CLAIMS : SCHEDULES;
    if (hasClaims) builder.dependOn('claims');
  }

  /** Appends the values of rows. @param alias what SQL calls them */
  protected abstract bind<R>(
    alias: string,
    cells: readonly Cell<R>[],
    rows: readonly NumberedRow<R>[],
  ): BoundRows;

  /** The condition under which a row is written that has the number of its plan. Undefined: none. */
  protected abstract isApplied(alias: string): string | undefined;

  protected insert<R>(name: string, table: InsertedTable<R>, rows: readonly NumberedRow<R>[]): void {
    if (rows.length === 0) return;
    const bound = this.bind('r', table.cells, rows);
    this.builder.with(
      name,
      () => `${cte(name)} AS (${insertText(table, bound)}${where(this.isApplied('r'))})`,
    );
  }

  /** Appends what the plans leave in the tables of `eventlog`, besides the rows of their actions. */
  protected writeRecords({ events, keys, schedules, cancellations, journal }: FlushRecords): void {
    this.insert('ev', EVENTS, events);
    this.insert('k', KEYS, keys);
    this.insert('sc', this.#scheduleTable, schedules);
    this.insert('j', JOURNAL, journal);
    if (cancellations.length === 0) return;
    const rows = this.bind('r', CANCELLATIONS, cancellations);
    this.builder.with('x', () => {
      // What is running cannot be taken back any more.
      const isPending = `s.id = ${rows.cell('id')} AND s.state IN ('pending', 'failed')`;
      const set = `state = 'cancelled', completed_date = ${rows.action('completed_date')}`;
      return `${cte('x')} AS (UPDATE eventlog.schedules AS s SET ${set}${rows.from()}${where(isPending, this.isApplied('r'))})`;
    });
  }
}

/** @param conditions undefined: none */
export function where(...conditions: readonly (string | undefined)[]): string {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? '' : ` WHERE ${given.join(' AND ')}`;
}
