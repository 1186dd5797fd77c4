import type { UnsafeSetting } from '../config/types.js';
import { UnsafeServerError } from '../errors.js';
import type { ShardDatabase } from '../sharding/shard-database.js';

/** Minimum server version that has all used features. */
const MINIMUM_VERSION = 140_000;

/**
 * Refuses a server that is too old or may lose acknowledged commits, and a database that cannot store every text. The
 * embedded database may always lose commits and logs that itself.
 *
 * @param allowed settings that may be off
 * @param session asks the server. Default: any connection of the database
 * @throws UnsafeServerError
 */
export async function checkServer(
  database: ShardDatabase,
  allowed: readonly UnsafeSetting[],
  session: Pick<ShardDatabase, 'query'> = database,
): Promise<void> {
  const { rows } = await session.query({
    text: `select current_setting('server_version_num')::int4, current_setting('server_version'),
      current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
      current_setting('server_encoding')`,
    values: [],
  });
  const [versionNumber, version, fsync, fullPageWrites, synchronousCommit, encoding] = rows[0] ?? [];
  if (Number(versionNumber) < MINIMUM_VERSION) {
    throw new UnsafeServerError(
      `${database.description} runs PostgreSQL ${String(version)}; 14 or newer is required`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new UnsafeServerError(
      `${database.description} has the encoding ${String(encoding)}, in which most texts cannot be stored; UTF8 is ` +
        "required. Create the database with: encoding 'UTF8' template template0.",
    );
  }
  if (database.kind === 'pglite') return;
  const settings: readonly (readonly [UnsafeSetting, unknown])[] = [
    ['fsync', fsync],
    ['full_page_writes', fullPageWrites],
    ['synchronous_commit', synchronousCommit],
  ];
  const off = settings.flatMap(([name, value]) => (value === 'off' && !allowed.includes(name) ? [name] : []));
  if (off.length === 0) return;
  throw new UnsafeServerError(
    `${database.description} runs with ${off.map((name) => `${name} = off`).join(', ')}: acknowledged commits can be ` +
      `lost. Switch it on, or allow it for this database by allow-unsafe: [${off.join(', ')}].`,
  );
}
