import type { ShardDatabase, ShardSession } from '../../runtime/sharding/shard-database.js';

/** The content of a database: its rows and sequences, and a fingerprint of its schema. */
export interface DatabaseSnapshot {
  readonly schema: string;
  /** Tables and their rows as one JSON array each. */
  readonly rows: readonly (readonly [table: string, rows: string])[];
  readonly sequences: readonly (readonly [sequence: string, value: string, isCalled: boolean])[];
}

const OWN = `(SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')`;

const CATALOGS = [
  `SELECT 'class', oid, xmin FROM pg_class WHERE relnamespace IN ${OWN}`,
  `SELECT 'attribute', attrelid, xmin FROM pg_attribute
    WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace IN ${OWN})`,
  `SELECT 'proc', oid, xmin FROM pg_proc WHERE pronamespace IN ${OWN}`,
  `SELECT 'type', oid, xmin FROM pg_type WHERE typnamespace IN ${OWN}`,
  `SELECT 'constraint', oid, xmin FROM pg_constraint WHERE connamespace IN ${OWN}`,
  `SELECT 'trigger', oid, xmin FROM pg_trigger`,
  `SELECT 'default', oid, xmin FROM pg_attrdef`,
  `SELECT 'policy', oid, xmin FROM pg_policy`,
  `SELECT 'index', indexrelid, xmin FROM pg_index
    WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace IN ${OWN})`,
  `SELECT 'rule', oid, xmin FROM pg_rewrite WHERE ev_class IN (SELECT oid FROM pg_class WHERE relnamespace IN ${OWN})`,
  `SELECT 'namespace', oid, xmin FROM pg_namespace`,
  `SELECT 'role', oid, xmin FROM pg_authid`,
  `SELECT 'setting', setdatabase, xmin FROM pg_db_role_setting`,
  `SELECT 'publication', oid, xmin FROM pg_publication`,
];

/** Every change of the schema rewrites a row of the catalog, which changes its `xmin`. */
const SCHEMA = `SELECT md5(string_agg(part, ' ' ORDER BY part)) FROM (
  SELECT concat_ws(' ', kind, oid, version) AS part FROM (${CATALOGS.join(' UNION ALL ')}) AS c(kind, oid, version)
) AS parts`;

const TABLES = `SELECT oid::regclass::text FROM pg_class
  WHERE relkind = 'r' AND relnamespace IN ${OWN} ORDER BY oid`;

const SEQUENCES = `SELECT oid::regclass::text FROM pg_class
  WHERE relkind = 'S' AND relnamespace IN ${OWN} ORDER BY oid`;

/** Reads the content of a small database. */
export function takeSnapshot(database: ShardDatabase): Promise<DatabaseSnapshot> {
  return withSession(database, async (session) => {
    const rows: [string, string][] = [];
    for (const table of await texts(session, TABLES))
      rows.push([
        table,
        await text(session, `SELECT coalesce(json_agg(t), '[]')::text FROM ONLY ${table} AS t`),
      ]);
    const sequences: [string, string, boolean][] = [];
    for (const sequence of await texts(session, SEQUENCES)) {
      const { rows: found } = await session.query({
        text: `SELECT last_value::text, is_called FROM ${sequence}`,
        values: [],
      });
      for (const [value, isCalled] of found) sequences.push([sequence, String(value), isCalled === true]);
    }
    return { schema: await text(session, SCHEMA), rows, sequences };
  });
}

/** Restores the rows and the sequences. False, without any effect, if the schema has changed. */
export function restoreSnapshot(database: ShardDatabase, snapshot: DatabaseSnapshot): Promise<boolean> {
  return withSession(database, async (session) => {
    if ((await text(session, SCHEMA)) !== snapshot.schema) return false;
    const statements = [
      ...snapshot.rows.map(([table]) => `DELETE FROM ONLY ${table};`),
      ...snapshot.rows.flatMap(([table, rows]) =>
        rows === '[]'
          ? []
          : `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${table}, ${quote(rows)});`,
      ),
      ...snapshot.sequences.map(
        ([sequence, value, isCalled]) => `SELECT setval(${quote(sequence)}, ${value}, ${String(isCalled)});`,
      ),
    ];
    await session.script(
      `BEGIN; SET LOCAL session_replication_role = replica; ${statements.join('\n')} COMMIT;`,
    );
    return true;
  });
}

async function withSession<T>(
  database: ShardDatabase,
  work: (session: ShardSession) => Promise<T>,
): Promise<T> {
  const session = await database.acquire();
  try {
    return await work(session);
  } finally {
    session.destroy();
  }
}

async function texts(session: ShardSession, query: string): Promise<readonly string[]> {
  const { rows } = await session.query({ text: query, values: [] });
  return rows.map(([value]) => String(value));
}

async function text(session: ShardSession, query: string): Promise<string> {
  const [value = ''] = await texts(session, query);
  return value;
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
