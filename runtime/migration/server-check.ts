import type { DataSourceConfig } from '../config/types.js';
import { UnsafeServerError } from '../errors.js';
import type { ShardDatabase } from '../sharding/shard-database.js';

/** Minimum server version that has all used features. */
const MINIMUM_VERSION = 140_000;
/** Settings with which acknowledged commits can be lost if they are off. */
export const DURABILITY_SETTINGS: DataSourceConfig['allowUnsafe'] = [
  'fsync',
  'full_page_writes',
  'synchronous_commit',
];

/** A server, as far as it must fit. */
export interface ServerFacts {
  readonly version: string;
  readonly isTooOld: boolean;
  readonly encoding: string;
  /** Durability settings that are off. */
  readonly off: DataSourceConfig['allowUnsafe'];
}

export async function readServer(database: Pick<ShardDatabase, 'query'>): Promise<ServerFacts> {
  const names = ['server_version_num', 'server_version', 'server_encoding', ...DURABILITY_SETTINGS];
  const text = `select ${names.map((name) => `current_setting('${name}')`).join(', ')}`;
  const [number, version, encoding, ...settings] = (await database.query({ text, values: [] })).rows[0] ?? [];
  return {
    version: String(version),
    isTooOld: Number(number) < MINIMUM_VERSION,
    encoding: String(encoding),
    off: DURABILITY_SETTINGS.filter((_, index) => settings[index] === 'off'),
  };
}

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
  allowed: DataSourceConfig['allowUnsafe'],
  session: Pick<ShardDatabase, 'query'> = database,
): Promise<void> {
  const { kind, description } = database;
  const { version, isTooOld, encoding, off } = await readServer(session);
  if (isTooOld)
    throw new UnsafeServerError(`${description} runs PostgreSQL ${version}; 14 or newer is required`);
  if (encoding !== 'UTF8') {
    throw new UnsafeServerError(
      `${description} has the encoding ${encoding}, in which most texts cannot be stored; UTF8 is ` +
        "required. Create the database with: encoding 'UTF8' template template0.",
    );
  }
  const unsafe = kind === 'pglite' ? [] : off.filter((name) => !allowed.includes(name));
  if (unsafe.length === 0) return;
  throw new UnsafeServerError(
    `${description} runs with ${unsafe.map((name) => `${name} = off`).join(', ')}: acknowledged commits can be ` +
      `lost. Switch it on, or allow it for this database by allow-unsafe: [${unsafe.join(', ')}].`,
  );
}
