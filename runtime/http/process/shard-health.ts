import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { FwError, messageOf } from '../../errors.js';
import type { Logger } from '../../observability/logger.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { publicError } from '../../sharding/public-error.js';
import type { HealthCheck, ShardHealth } from '../health.js';

/** How long one shard may take to answer, in milliseconds. */
const PATIENCE_MS = 1_000;

const IS_WRITABLE = { text: "SELECT current_setting('transaction_read_only') = 'off'", values: [] };

/** Queries every database of a topology concurrently. Logs each change of a shard's status once, with the reason. */
export function shardHealth(databases: DatabaseRegistry, log: Logger): HealthCheck {
  const reasons = new Map<string, string>();
  const note = (health: ShardHealth): ShardHealth => {
    const { shard, name, status, code, reason } = health;
    const last = reasons.get(shard);
    const state = code && `${status} ${code}`;
    if (state === undefined) reasons.delete(shard);
    else reasons.set(shard, state);
    if (last !== state && state !== undefined) log.warn({ shard, name, code, reason }, `shard is ${status}`);
    if (last !== undefined && state === undefined) log.info({ shard, name }, 'shard is up');
    return health;
  };
  return async () =>
    Promise.all(databases.shards().map(async (shard) => note(await healthOf(databases, shard))));
}

async function healthOf(databases: DatabaseRegistry, shard: ShardIdentifier): Promise<ShardHealth> {
  const { name } = databases.memberConfig(shard);
  const subject = { shard: shard.toString(), name };
  const withheld = databases.withheld(shard);
  if (withheld !== undefined)
    return { ...subject, status: 'down', code: 'FW_SHARD_UNAVAILABLE', reason: withheld };
  try {
    const { rows } = await databases.database(shard).query(IS_WRITABLE, { timeoutMs: PATIENCE_MS });
    if (rows[0]?.[0] === true) return { ...subject, status: 'up' };
    const reason = 'The server is read-only';
    return { ...subject, status: 'read-only', code: 'FW_SHARD_UNAVAILABLE', reason };
  } catch (error) {
    const shown = error instanceof DriverFailure ? publicError(error, shard) : error;
    const code = shown instanceof FwError ? shown.code : 'FW_DATABASE';
    return { ...subject, status: 'down', code, reason: messageOf(error) };
  }
}
