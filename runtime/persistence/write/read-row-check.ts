import type { ModelDescriptor } from '../../domain/entity.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import type { CallOptions, ShardDatabase } from '../../sharding/shard-database.js';
import { quoteIdentifier } from '../codec/sql-identifier.js';
import type { RowCheck, RowCondition } from './row-check.js';

/** A constraint that has refused a statement. */
export interface Violation {
  readonly sqlState: string;
  readonly schema: string;
  readonly table: string;
  readonly constraint: string;
  /** The message of the server, which contains no values. */
  readonly message: string;
}

const KINDS: Readonly<Record<string, RowCondition['kind']>> = {
  '23503': 'reference',
  '23505': 'unique',
  '23514': 'check',
};

/**
 * The constraint that refused a statement. Undefined if there is none, or if a statement cannot check it before it
 * writes.
 */
export function violationOf(error: unknown): Violation | undefined {
  if (!(error instanceof DriverFailure) || error.phase !== 'answered') return undefined;
  const { sqlState, schema, table, constraint, message } = error;
  if (sqlState === undefined || KINDS[sqlState] === undefined) return undefined;
  if (schema === undefined || table === undefined || constraint === undefined) return undefined;
  return { sqlState, schema, table, constraint, message };
}

/**
 * Types without length: an explicit cast to a type with a length silently truncates a text that the table would refuse.
 */
const TYPES = `
  ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum),
  ARRAY(SELECT format_type(atttypid, CASE WHEN typcategory IN ('S', 'V') THEN NULL ELSE atttypmod END)
    FROM pg_attribute JOIN pg_type AS y ON y.oid = atttypid
    WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum)`;

const CONSTRAINT = `
SELECT c.oid::text, c.xmin::text, NOT c.convalidated,
  ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY AS k(attnum, nr)
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.attnum ORDER BY k.nr),
  ${TYPES},
  pg_get_expr(c.conbin, c.conrelid),
  CASE WHEN c.confrelid <> 0 THEN c.confrelid::regclass::text END,
  ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY AS k(attnum, nr)
    JOIN pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = k.attnum ORDER BY k.nr)
FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid
WHERE t.oid = to_regclass($1) AND c.conname = $2 AND CASE c.contype
  WHEN 'c' THEN NOT 0 = ANY (c.conkey)
  WHEN 'f' THEN c.confmatchtype = 's' AND coalesce(to_jsonb(c)->>'conperiod', 'false') = 'false'
    AND has_table_privilege(c.confrelid, 'SELECT')
  ELSE false END`;

/** An index with its own operator class or collation may treat other values as equal than the columns do. */
const INDEX = `
SELECT i.indexrelid::text, i.xmin::text,
  EXISTS (SELECT FROM unnest(i.indclass::oid[]) AS k(oid) JOIN pg_opclass AS o ON o.oid = k.oid WHERE NOT o.opcdefault)
    OR EXISTS (SELECT FROM unnest(i.indcollation::oid[], i.indkey::int2[]) AS k(collation_oid, attnum)
      LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.attnum AND k.attnum > 0
      WHERE CASE WHEN a.attnum IS NULL THEN k.collation_oid NOT IN (0, 100) ELSE k.collation_oid <> a.attcollation END),
  ARRAY(SELECT a.attname::text FROM pg_attribute AS a WHERE a.attrelid = t.oid AND a.attnum > 0 AND (
    a.attnum = ANY (i.indkey::int2[]) OR EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass
      AND d.objid = i.indexrelid AND d.refobjid = t.oid AND d.refobjsubid = a.attnum))),
  ${TYPES},
  pg_get_expr(i.indpred, i.indrelid),
  ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, true) FROM generate_series(1, i.indnkeyatts) AS k ORDER BY k)
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_class AS t ON t.oid = i.indrelid
WHERE t.oid = to_regclass($1) AND c.relname = $2
  AND i.indisunique AND i.indimmediate AND coalesce(to_jsonb(i)->>'indnullsnotdistinct', 'false') = 'false'`;

/**
 * The violated constraint as the catalog describes it; undefined if a statement cannot evaluate it. @throws
 * DriverFailure
 */
export async function readRowCheck(
  database: ShardDatabase,
  model: ModelDescriptor,
  violation: Violation,
  options: CallOptions = {},
): Promise<RowCheck | undefined> {
  const { sqlState, schema, table, constraint, message } = violation;
  const kind = KINDS[sqlState];
  const { rows } = await database.query(
    {
      text: kind === 'unique' ? INDEX : CONSTRAINT,
      values: [quoteIdentifier(model.table), constraint],
    },
    options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs },
  );
  const [row] = rows;
  if (row === undefined || kind === undefined) return undefined;
  const [oid, version, isApproximate, columns, names, types, ...rest] = row;
  const typeList = textsOf(types);
  // A statement contains only the columns that the model writes.
  const known = new Set(model.columns.map(({ column }) => column));
  if (!textsOf(columns).every((column) => known.has(column))) return undefined;
  return {
    constraint,
    condition: conditionOf(kind, textsOf(columns), rest),
    columns: textsOf(columns),
    isApproximate: isApproximate === true,
    ...{ oid: String(oid), version: String(version) },
    types: new Map(textsOf(names).map((name, at) => [name, typeList[at] ?? 'text'])),
    refusal: new DriverFailure(message, { phase: 'answered', sqlState, schema, table, constraint }),
  };
}

function conditionOf(
  kind: RowCondition['kind'],
  columns: readonly string[],
  [expression, second, third]: readonly unknown[],
): RowCondition {
  switch (kind) {
    case 'check':
      return { kind, expression: String(expression) };
    case 'unique':
      return {
        ...{ kind, keys: textsOf(second) },
        predicate: typeof expression === 'string' ? expression : undefined,
      };
    case 'reference':
      return { kind, columns, to: String(second), toColumns: textsOf(third) };
  }
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
