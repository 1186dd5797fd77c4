import { sleep, time } from '../concurrency/time.js';
import { databaseKey } from '../config/jdbc-url.js';
import type { MemberConfig, ShardingTopology } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { messageOf, ReloadRefusedError } from '../errors.js';
import { DriverFailure } from './driver-failure.js';
import type { PoolStats, ShardDatabase } from './shard-database.js';
import { sqlStateMeaning } from './sql-state.js';
import { storedShard } from './stored-shard.js';
import { membersOf, type TopologyChange } from './topology-changes.js';

const CHECK_TIMEOUT_MS = 5_000;
const PROMOTION_POLL_MS = 25;

/** Refuses changes that are unsafe for a running process, before any takes effect. @throws ReloadRefusedError */
export function requireSafe(
  changes: readonly TopologyChange[],
  before: ShardingTopology,
  after: ShardingTopology,
): void {
  const known = membersOf(before);
  for (const change of changes) {
    if (change.kind === 'default-shard')
      throw refusal('the default shard holds the models without a sharded id');
    if (change.kind === 'maximum-connections')
      throw refusal('maximum-connections takes effect after a restart');
    if (change.kind !== 'server' && change.kind !== 'pool') continue;
    const { shard, kind } = change;
    const { url } = memberIn(after, change).primary;
    if (url.kind === 'pglite' || known.get(shard)?.primary.url.kind === 'pglite')
      throw refusal(`shard ${shard} is an embedded database, which only a restart can change`);
    const owner = [...known.values()].find(({ primary }) => databaseKey(primary.url) === databaseKey(url));
    if (kind === 'server' && owner !== undefined)
      throw refusal(`the new database of shard ${shard} is that of shard ${owner.shard}`);
  }
}

/**
 * Checks that a shard is empty before it is removed: the tables of models, which may be in any schema, and those of the
 * runtime whose rows name ids of the shard. Tables of extensions and of other roles do not count.
 *
 * @throws ReloadRefusedError
 */
export async function requireEmpty(database: ShardDatabase): Promise<void> {
  const tables = await ask(
    database,
    `select coalesce(string_agg(format('select 1 from %I.%I', nspname, relname), ' union all '), 'select 1 where false')
     from pg_class as t join pg_namespace as n on n.oid = relnamespace
     where relkind in ('r', 'p') and nspname !~ '^pg_' and nspname <> 'information_schema'
       and has_schema_privilege(n.oid, 'USAGE') and has_table_privilege(t.oid, 'SELECT')
       and (nspname <> 'eventlog' or relname in ('events', 'actions', 'journal', 'schedules', 'sagas', 'saga_steps'))
       and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = t.oid and deptype = 'e')`,
  );
  const [rows] = await ask(database, `select exists (${String(tables[0])})`);
  if (rows === true)
    throw refusal(`shard ${database.shard} still holds rows, whose ids would name an unknown shard`);
}

/**
 * Checks a change of a shard's server. The new database must belong to the shard and be writable, or be a standby that
 * is about to be promoted. The old one must refuse writes.
 *
 * @throws ReloadRefusedError
 */
export async function requireSuccessor(openNew: Opens, openOld: Opens): Promise<void> {
  await using(openNew, async (successor) => {
    await requireIdentity(successor);
    if ((await writability(successor)) === 'read-only')
      throw refusal(`${successor.description} does not accept writes`);
  });
  await using(openOld, async (old) => {
    if (!(await takesWrites(old))) return;
    throw refusal(
      `${old.description} still accepts writes: make it read-only or stop it, or its last commits are lost`,
    );
  });
}

/**
 * Checks that a new pool of the same database can open a connection: user, password, TLS. While the database is out of
 * reach and the present pool has no connection either, there is nothing to lose, and the pool is replaced unchecked.
 *
 * @throws ReloadRefusedError
 */
export async function requireConnection(
  shard: ShardIdentifier,
  openNew: Opens,
  present: PoolStats | undefined,
): Promise<void> {
  try {
    await using(openNew, (database) => ask(database, 'select 1'));
  } catch (error) {
    const isConnected = present !== undefined && present.open > 0;
    if (!isConnected && isOutOfReach(error)) return;
    const reason = `the new connection settings of shard ${shard} do not work: ${messageOf(error)}`;
    throw new ReloadRefusedError(reason, { cause: error, mayPass: true });
  }
}

/** A session keeps the settings with which it began, so each check opens a new one. */
type Opens = () => ShardDatabase;

async function using<T>(open: Opens, work: (database: ShardDatabase) => Promise<T>): Promise<T> {
  const database = open();
  return work(database).finally(() => database.close(0));
}

/** Whether a new session can write. */
type Writability = 'writable' | 'a standby' | 'read-only';

/**
 * Waits until the new database is writable. After its promotion it may still have the setting that made the old one
 * read-only.
 *
 * @throws ReloadRefusedError if that takes longer than `patienceMs`
 */
export async function untilPromoted(openNew: Opens, patienceMs: number): Promise<void> {
  const giveUpAt = time.nowMs() + patienceMs;
  for (;;) {
    const state = await using(openNew, writability);
    if (state === 'writable') return;
    if (time.nowMs() >= giveUpAt) throw refusal(`the new database does not accept writes: it is ${state}`);
    await sleep(PROMOTION_POLL_MS, { ref: false });
  }
}

async function writability(database: ShardDatabase): Promise<Writability> {
  const [standby, readOnly] = await ask(
    database,
    "select pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on'",
  );
  if (standby === true) return 'a standby';
  return readOnly === true ? 'read-only' : 'writable';
}

/** @throws ReloadRefusedError if the database does not identify itself as the shard's */
export async function requireIdentity(database: ShardDatabase): Promise<void> {
  const stored = await storedShard(database, 'shard', { timeoutMs: CHECK_TIMEOUT_MS });
  if (stored?.bits === database.shard.bits) return;
  const found = stored === undefined ? 'no shard yet' : `shard ${stored}`;
  throw refusal(`${database.description} is ${found}, not ${database.shard}`);
}

async function takesWrites(old: ShardDatabase): Promise<boolean> {
  try {
    return (await writability(old)) === 'writable';
  } catch (error) {
    if (!(error instanceof DriverFailure)) throw error;
    // The server does not answer. A server that refuses only this process may still serve others.
    if (error.reason === 'unreachable' && error.sqlState === undefined && isSilent(error)) return false;
    const found = `it is unknown whether ${old.description} still accepts writes: ${error.message}`;
    throw refusal(`${found}; if it does not, restart the process, which then starts with the new file`);
  }
}

/** Errors of sockets to a server that is gone. */
const GONE: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
]);

/** False for what only this process lacks: a certificate, trust, a name server. An error without a code is a time-out. */
function isSilent({ cause }: DriverFailure): boolean {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === undefined || GONE.has(code);
}

/** Whether the server did not answer, or has answered only that it cannot serve now. It must have been asked. */
function isOutOfReach(error: unknown): boolean {
  if (!(error instanceof DriverFailure) || error.reason === 'pool-exhausted') return false;
  return error.sqlState === undefined || sqlStateMeaning(error.sqlState) !== 'other';
}

async function ask(database: ShardDatabase, text: string): Promise<readonly unknown[]> {
  const { rows } = await database.query({ text, values: [] }, { timeoutMs: CHECK_TIMEOUT_MS });
  return rows[0] ?? [];
}

/** The member that a change concerns. */
export function memberIn(topology: ShardingTopology, { shard }: Pick<MemberConfig, 'shard'>): MemberConfig {
  const member = membersOf(topology).get(shard);
  if (member === undefined) throw new TypeError(`Shard ${shard} is in no group`);
  return member;
}

function refusal(reason: string): ReloadRefusedError {
  return new ReloadRefusedError(reason);
}
