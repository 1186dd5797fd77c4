import { time } from '../concurrency/time.js';
import type { MemberConfig } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { EmbeddedDatabaseLockedError, messageOf } from '../errors.js';
import { missingRights, quoteTable } from '../migration/application-rights.js';
import { DURABILITY_SETTINGS, readServer } from '../migration/server-check.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import type { Rows, ShardDatabase } from '../sharding/shard-database.js';
import { storedShard } from '../sharding/stored-shard.js';
import { clockSkewMs } from './clock-skew.js';
import { type CheckResult, fault, ok, warning } from './finding.js';

/** One check of one database. Returns no result if it does not apply. */
export type ShardCheck = (subject: ShardSubject) => Promise<readonly CheckResult[]>;

export interface ShardSubject {
  readonly database: ShardDatabase;
  readonly member: MemberConfig;
  /** Tables of the models. */
  readonly tables: readonly CheckedTable[];
  /** The default shard of the topology. */
  readonly defaultShard: ShardIdentifier;
}

export interface CheckedTable {
  readonly table: string;
  readonly sharded: boolean;
}

const SKEW_WARNING_MS = 500;
const SKEW_FAULT_MS = 10_000;
/** Time limit for the scan of a large table, in milliseconds. */
const RESIDENCY_TIMEOUT_MS = 10_000;

/** Checks whether the database is reachable, and how long a connection takes. */
export const checkConnection: ShardCheck = async ({ database }) => {
  const startedAt = time.nowMs();
  try {
    await ask(database, 'select 1');
    return [ok('connection', `${database.description}, ${Math.round(time.nowMs() - startedAt)} ms`)];
  } catch (error) {
    return [fault('connection', failureOf(database, error), connectionAdvice(database, error))];
  }
};

function connectionAdvice({ kind }: ShardDatabase, error: unknown): string {
  // The error message already states the fix.
  if (error instanceof EmbeddedDatabaseLockedError) return '';
  if (kind === 'pglite')
    return 'If a server is starting, wait for it. Otherwise check the disk and the rights to the folder; if it is damaged, restore it.';
  const sqlState = error instanceof DriverFailure ? error.sqlState : undefined;
  if (sqlState?.startsWith('28') === true)
    return 'Check username and password, and pg_hba.conf of the server.';
  if (sqlState === '3D000') return 'Create the database, or correct the name in jdbc-url.';
  if (sqlState === '53300')
    return 'All connections are in use: shrink pools, or raise max_connections or the CONNECTION LIMIT of the role or database, as the message says.';
  return 'Check host, port and TLS settings in jdbc-url, and whether the server runs.';
}

export const checkVersion: ShardCheck = async ({ database }) => {
  const { version, isTooOld, encoding } = await readServer(database);
  const found = `PostgreSQL ${version}`;
  if (isTooOld) return [fault('version', found, 'Upgrade the server: 14 or newer is required.')];
  if (encoding === 'UTF8') return [ok('version', found)];
  const advice =
    "Create the database with: encoding 'UTF8' template template0. Applications do not start on this one.";
  return [fault('version', `${found}, encoding ${encoding}`, advice)];
};

/** Checks for settings with which an acknowledged commit can be lost. */
export const checkDurability: ShardCheck = async ({ database, member }) => {
  if (database.kind === 'pglite') {
    const advice = 'A power loss may lose data: use a server in production.';
    return [warning('durability', 'embedded database', advice)];
  }
  const { off } = await readServer(database);
  if (off.length === 0) return [ok('durability', DURABILITY_SETTINGS.map((name) => `${name} on`).join(', '))];
  const found = off.map((name) => `${name} off`).join(', ');
  const allowed = off.every((name) => member.primary.allowUnsafe.includes(name));
  if (allowed) return [warning('durability', `${found}, allowed`, 'Acknowledged commits can be lost.')];
  const advice = 'Switch it on: acknowledged commits can be lost, and applications do not start.';
  return [fault('durability', found, advice)];
};

/** Compares the clocks: this process dates ids and models, the server decides what has expired or is due. */
export const checkClock: ShardCheck = async ({ database }) => {
  const skew = Math.abs(await clockSkewMs(database));
  // This process's clock has whole milliseconds.
  const found = skew < 1 ? 'no skew' : `${Math.round(skew)} ms apart`;
  if (skew <= SKEW_WARNING_MS) return [ok('clock', found)];
  const advice = 'Synchronise the clocks of this machine and of the server (NTP).';
  return [(skew > SKEW_FAULT_MS ? fault : warning)('clock', found, advice)];
};

/** Checks whether the database accepts writes, and whether the user's rights are sufficient and not excessive. */
export const checkRights: ShardCheck = async ({ database, tables }) => {
  const [standby, readOnly, superuser, mayCreate] = await ask(
    database,
    `select pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on',
      (select rolsuper from pg_roles where rolname = current_user),
      has_database_privilege(current_database(), 'CREATE')`,
  );
  const results: CheckResult[] = [];
  if (standby === true) {
    results.push(
      fault('rights', 'a standby', 'primary-config must name the primary: writes are refused here.'),
    );
  } else if (readOnly === true) {
    results.push(
      fault('rights', 'read-only', 'Switch default_transaction_read_only off for this user and database.'),
    );
  }
  if (superuser === true && database.kind === 'postgresql') {
    results.push(
      warning('rights', 'the user is a superuser', 'Use a role that owns its database and nothing else.'),
    );
  }
  if (mayCreate === false) {
    const advice = 'Migrations need it: grant it, or migrate as another user.';
    results.push(warning('rights', 'no CREATE on the database', advice));
  }
  const missing = await missingRights(
    database,
    tables.map(({ table }) => table),
    true,
  );
  if (missing.length > 0) {
    const advice = 'Grant them as the owner of the schema (docs/events.md, Roles).';
    results.push(fault('rights', `the user lacks the rights ${missing.join(', ')}`, advice));
  }
  return results.length > 0 ? results : [ok('rights', 'reads and writes')];
};

/** Checks the database's own shard identity, and whether it contains rows of other shards. */
export const checkResidency: ShardCheck = async ({ database, member, tables }) => {
  const stored = await storedShard(database, 'shard');
  if (stored === undefined) return [warning('residency', 'an empty database', 'Run fw-gen migrate up.')];
  const { shard } = member;
  if (stored.bits !== shard.bits) {
    const advice = 'Two URLs are swapped, or this database is a copy of another shard.';
    return [fault('residency', `the database is shard ${stored}`, advice)];
  }
  const results: CheckResult[] = [];
  for (const { table } of tables.filter(({ sharded }) => sharded))
    results.push(...(await strangers(database, table)));
  return results.length > 0 ? results : [ok('residency', `shard ${shard}, no foreign ids`)];
};

/** Checks whether the database belongs to a cluster with this default shard: processes refuse another one. */
export const checkDefaultShard: ShardCheck = async ({ database, defaultShard }) => {
  const stored = await storedShard(database, 'default_shard');
  if (stored === undefined || stored.bits === defaultShard.bits) return [];
  const found = `the database belongs to a cluster whose default shard is ${stored}; this file has ${defaultShard}`;
  const advice =
    `No server starts with this file: set fw.sharding.default-shard to ${stored}, ` +
    'or move the default shard (docs/operations.md, Moving the default shard).';
  return [fault('default shard', found, advice)];
};

async function strangers(database: ShardDatabase, table: string): Promise<readonly CheckResult[]> {
  const name = quoteTable(table);
  const [there] = await ask(database, 'select to_regclass($1) is not null', [name]);
  if (there !== true) return [];
  try {
    const { rows } = await database.query(
      { text: `select id from ${name} where not eventlog.is_own_id(id) limit 3`, values: [] },
      { timeoutMs: RESIDENCY_TIMEOUT_MS },
    );
    if (rows.length === 0) return [];
    const ids = rows.map(([id]) => String(id)).join(', ');
    const advice = 'Find out how they got here, then move them to their shard.';
    return [fault('residency', `${table} holds ids of other shards: ${ids}`, advice)];
  } catch (error) {
    if (!(error instanceof DriverFailure)) throw error;
    const isSlow = error.sqlState === '57014' || error.reason === 'deadline';
    if (!isSlow)
      return [warning('residency', `${table} was not scanned: ${error.message}`, 'Run the check again.')];
    const advice = 'The table is large: run the check at a quiet time.';
    return [warning('residency', `${table} was not fully scanned within ${RESIDENCY_TIMEOUT_MS} ms`, advice)];
  }
}

/** Lists the connected processes. */
export const checkPeers: ShardCheck = async ({ database }) => {
  if (database.kind === 'pglite') return [];
  const { rows } = await query(
    database,
    `select coalesce(nullif(application_name, ''), '(no name)'), coalesce(host(client_addr), 'local'), count(*)::int4
     from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
     group by 1, 2 order by 1, 2`,
  );
  const peers = rows.map(
    ([name, address, count]) => `${String(name)} from ${String(address)}: ${String(count)}`,
  );
  return [ok('connected', peers.length === 0 ? 'no other client' : peers.join('; '))];
};

export async function ask(
  database: ShardDatabase,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly unknown[]> {
  return (await query(database, text, values)).rows[0] ?? [];
}

export function query(database: ShardDatabase, text: string, values: readonly unknown[] = []): Promise<Rows> {
  return database.query({ text, values });
}

/** Describes a failure with its database. Connection failures, and those of an embedded database, already name it. */
export function failureOf({ kind, description }: ShardDatabase, error: unknown): string {
  const message = messageOf(error);
  return kind === 'pglite' || message.startsWith(description) ? message : `${description}: ${message}`;
}
