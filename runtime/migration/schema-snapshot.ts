import type { Rows, Statement } from '../sharding/shard-database.js';

/** One column as in the catalog. */
export interface ColumnFacts {
  readonly name: string;
  /** In the server's spelling: `numeric(19,4)`, `character(3)`. */
  readonly type: string;
  readonly nullable: boolean;
  /** Whether rows may be inserted without it: it has a default, or is generated. */
  readonly filledIn: boolean;
}

/** A unique index of columns, not of expressions, that is not deferrable and not the primary key. */
export interface IndexFacts {
  readonly name: string;
  readonly columns: readonly string[];
  /** In the server's spelling; undefined if the index is not partial. */
  readonly predicate: string | undefined;
  /** Whether it belongs to a unique constraint and can only be dropped with it. */
  readonly isConstraint: boolean;
}

/** One check constraint. */
export interface CheckFacts {
  /** False: existing rows may violate it. */
  readonly isValidated: boolean;
  /** Columns in the condition. */
  readonly columns: readonly string[];
  /** In the server's spelling. */
  readonly definition: string;
}

export interface TableFacts {
  readonly columns: readonly ColumnFacts[];
  readonly uniqueIndexes: readonly IndexFacts[];
  readonly checks: readonly CheckFacts[];
}

/** The schema of one database. */
export interface SchemaSnapshot {
  /** Tables of the search path's first schema, by name. */
  readonly tables: ReadonlyMap<string, TableFacts>;
  /** A schema with a table of this name, for tables that are in another schema only. */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** All properties that should be equal on all shards, one sorted line each. */
  readonly lines: readonly string[];
}

/** Partitions change over time, and each shard rebuilds projections for itself. */
const OURS = `n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^(pg|fw_rebuild)_' and not c.relispartition`;

const COLUMNS = `
select n.nspname = current_schema() as own, n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
  not a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity <> '' or a.attgenerated <> ''
from pg_attribute a
join pg_class c on c.oid = a.attrelid
join pg_namespace n on n.oid = c.relnamespace
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped and ${OURS}
order by n.nspname, c.relname, a.attname`;

const UNIQUE_INDEXES = `
select c.relname, x.relname, pg_get_expr(i.indpred, i.indrelid),
  array(select a.attname::text from unnest(i.indkey::int2[]) with ordinality as k(number, nr)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number where k.nr <= i.indnkeyatts order by k.nr),
  exists (select from pg_constraint q where q.conindid = i.indexrelid and q.contype = 'u')
from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
  join pg_namespace n on n.oid = c.relnamespace
where i.indisunique and not i.indisprimary and i.indexprs is null and i.indisvalid and i.indimmediate
  and n.nspname = current_schema() and ${OURS}
order by c.relname, x.relname`;

const OTHERS = `
select 'constraint ' || n.nspname || '.' || c.relname || ': ' || pg_get_constraintdef(k.oid)
from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
where k.contype <> 'n' and ${OURS}
union all
select 'index ' || pg_get_indexdef(i.indexrelid)
from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace where ${OURS}
union all
select 'invalid index ' || i.indexrelid::regclass::text
from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
where not i.indisvalid and ${OURS}
union all
select 'trigger ' || pg_get_triggerdef(t.oid)
from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
where not t.tgisinternal and ${OURS}`;

const CHECKS = `
select c.relname, k.convalidated, pg_get_constraintdef(k.oid),
  array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum = any (k.conkey))
from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
where k.contype = 'c' and n.nspname = current_schema() and ${OURS}
order by c.relname, k.conname`;

/** Reads the catalog of one database. */
export async function snapshotSchema(database: {
  query(statement: Statement): Promise<Rows>;
}): Promise<SchemaSnapshot> {
  const read = async (text: string) => (await database.query({ text, values: [] })).rows;
  const tables = new Map<string, { [Part in keyof TableFacts]: TableFacts[Part][number][] }>();
  const elsewhere = new Map<string, string>();
  const lines: string[] = [];
  for (const [own, schema, table, column, type, nullable, fallback, generated] of await read(COLUMNS)) {
    const facts = {
      name: String(column),
      type: String(type),
      nullable: nullable === true,
      filledIn: fallback !== null || generated === true,
    };
    const value = fallback === null ? '' : ` default ${String(fallback)}`;
    const name = `${String(schema)}.${String(table)}.${facts.name}`;
    lines.push(`column ${name} ${facts.type}${facts.nullable ? '' : ' not null'}${value}`);
    if (own !== true) {
      elsewhere.set(String(table), String(schema));
      continue;
    }
    const known = tables.get(String(table)) ?? { columns: [], uniqueIndexes: [], checks: [] };
    known.columns.push(facts);
    tables.set(String(table), known);
  }
  for (const [line] of await read(OTHERS)) lines.push(String(line));
  for (const [table, name, predicate, columns, isConstraint] of await read(UNIQUE_INDEXES))
    tables.get(String(table))?.uniqueIndexes.push({
      name: String(name),
      columns: texts(columns),
      predicate: typeof predicate === 'string' ? predicate : undefined,
      isConstraint: isConstraint === true,
    });
  for (const [table, isValidated, definition, columns] of await read(CHECKS))
    tables.get(String(table))?.checks.push({
      isValidated: isValidated === true,
      columns: texts(columns),
      definition: String(definition),
    });
  return { tables, elsewhere, lines: lines.sort() };
}

function texts(array: unknown): readonly string[] {
  return Array.isArray(array) ? array.map(String) : [];
}
