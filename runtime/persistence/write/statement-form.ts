import { INT } from '../codec/parameter-kind.js';
import type { StatementBuilder } from './statement-builder.js';
import type { BoundRows, Cell, NumberedRow } from './statement-rows.js';

/** Answer of a flush that has applied all its groups. */
export const ALL_APPLIED = 'all';

/** How a statement refers to rows, and to the groups that it applies. */
export interface StatementForm {
  /** Appends the values of rows. @param alias what SQL calls them */
  readonly bind: <R>(
    builder: StatementBuilder,
    alias: string,
    cells: readonly Cell<R>[],
    rows: readonly NumberedRow<R>[],
  ) => BoundRows;
  /** Condition: a group is among these. */
  readonly isIn: (group: string, groups: string) => string;
  /** Numbers of these groups, separated by commas, or that they are all. */
  readonly list: (groups: string) => string;
}

/** For a single plan: each value is a parameter. This costs the server two thirds of the merged form. */
export const SINGLE: StatementForm = {
  bind: (builder, _, cells, [only]) => {
    const first = builder.append(cells.map(({ one }) => (only ? one(only.row) : null)));
    const cell = (name: string): string => {
      const at = cells.findIndex((each) => each.name === name);
      return `$${first + at}::${cells[at]?.type}`;
    };
    return { number: '1', cell, cellOf: (_, name) => cell(name), from: '' };
  },
  isIn: (_, groups) => `EXISTS (SELECT FROM ${groups})`,
  list: (groups) => `CASE WHEN EXISTS (SELECT FROM ${groups}) THEN '${ALL_APPLIED}' ELSE '' END`,
};

/**
 * For any number of groups: each cell is one array for all rows. `(x IN (SELECT ...)) = true` keeps the planner on a
 * hashed subplan.
 */
export const MERGED: StatementForm = {
  bind: (builder, alias, cells, numbered) => {
    const rows = numbered.map(({ row }) => row);
    const numbers = builder.bind(
      INT.many(numbered, ({ number }) => number),
      INT.manyType,
    );
    const arrays = new Map<string, string>();
    // Arrays are unnested together; what is expanded otherwise follows.
    let [names, unnested, functions, last] = ['nr', numbers, '', ''];
    for (const { name, one, many, manyType, expand, isOptional } of cells) {
      if (isOptional === true && rows.every((row) => one(row) === null)) {
        builder.omit(name);
        continue;
      }
      const array = builder.bind(many(rows), manyType);
      arrays.set(name, array);
      if (expand === undefined) {
        names += `, ${name}`;
        unnested += `, ${array}`;
      } else {
        last += `, ${name}`;
        functions += `, ${expand}(${array})`;
      }
    }
    const source = functions === '' ? `unnest(${unnested})` : `ROWS FROM (unnest(${unnested})${functions})`;
    return {
      number: `${alias}.nr`,
      cell: (name) => (arrays.has(name) ? `${alias}.${name}` : 'NULL'),
      cellOf: (number, name) => (arrays.has(name) ? `(${arrays.get(name)})[${number}]` : 'NULL'),
      from: ` FROM ${source} AS ${alias}(${names}${last})`,
    };
  },
  isIn: (group, groups) => `(${group} IN (SELECT grp FROM ${groups})) = true`,
  list: (groups) => `(SELECT coalesce(string_agg(grp::text, ','), '') FROM ${groups})`,
};
