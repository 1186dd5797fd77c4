import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { PGlite } from '@electric-sql/pglite';
import { PGLITE_VERSION, type PgliteModule } from './load-pglite.js';

/** The creation in progress, after which there may be a prepared cluster. */
let creating: Promise<unknown> = Promise.resolve();

/**
 * Opens a database in a directory, or a new one in memory. Creating a cluster takes a second and a half, copying one a
 * third of a second: the first new cluster is therefore kept in `node_modules/.cache`, and later ones are copies of it.
 * A folder that cannot be written, or a damaged file, only costs the time.
 */
export async function openCluster(
  module: PgliteModule,
  directory: string | undefined,
  file: string | undefined = cacheFile(),
): Promise<PGlite> {
  const place = directory === undefined ? {} : { dataDir: directory };
  if (file === undefined || (directory !== undefined && existsSync(directory)))
    return module.PGlite.create(place);
  await creating;
  const prepared = readPrepared(file);
  if (prepared !== undefined) return module.PGlite.create({ ...place, loadDataDir: prepared });
  const created = module.PGlite.create(place).then(async (database) => {
    await keep(database, file);
    return database;
  });
  creating = created.catch(() => {});
  return created;
}

/** In the `node_modules` that contains the embedded database. Undefined: there is none, as in a bundle. */
function cacheFile(): string | undefined {
  try {
    const path = createRequire(import.meta.url).resolve('@electric-sql/pglite');
    const [application = '', ...inside] = path.split(`${sep}node_modules${sep}`);
    const cache = join(application, 'node_modules', '.cache', 'fw-actions');
    return inside.length === 0 ? undefined : join(cache, `pglite-${PGLITE_VERSION}.tar.gz`);
  } catch {
    return undefined;
  }
}

function readPrepared(file: string): Blob | undefined {
  try {
    return new Blob([withOwnIdentifier(gunzipSync(readFileSync(file)))]);
  } catch {
    return undefined;
  }
}

/** Other processes may do the same at the same time. */
async function keep(database: PGlite, file: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const dump = await database.dumpDataDir('none');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, gzipSync(await dump.arrayBuffer(), { level: 1 }));
    renameSync(draft, file);
  } catch {
    rmSync(draft, { force: true });
  }
}

const TAR_BLOCK = 512;
const CONTROL_FILE = 'global/pg_control';
/** `xlp_sysid` of `XLogLongPageHeaderData` (src/include/access/xlog_internal.h), at the start of each segment. */
const SEGMENT_IDENTIFIER_OFFSET = 24;

/**
 * Gives a copy of a cluster a system identifier of its own, because events are read in another way once a shard has
 * moved to another cluster. It is in the control file, before a checksum (`ControlFileData`,
 * src/include/catalog/pg_control.h), and in the first page of each segment of the write-ahead log.
 *
 * @throws Error if the files have another form
 */
export function withOwnIdentifier(tar: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(tar);
  const identifier = randomBytes(8);
  identifier.writeUInt8(identifier.readUInt8(7) & 0x7f, 7);
  const view = Buffer.from(copy.buffer);
  let controls = 0;
  for (let at = 0; at + TAR_BLOCK <= view.length; ) {
    const name = view.toString('latin1', at, at + 100).replace(/\0.*$/s, '');
    if (name === '') break;
    const size = Number.parseInt(view.toString('latin1', at + 124, at + 136), 8);
    const content = view.subarray(at + TAR_BLOCK, at + TAR_BLOCK + size);
    if (name.endsWith(CONTROL_FILE)) {
      const checksumAt = checksumOffset(content);
      identifier.copy(content);
      content.writeUInt32LE(crc32c(content.subarray(0, checksumAt)), checksumAt);
      controls += 1;
    } else if (/pg_wal\/[0-9A-F]{24}$/.test(name)) identifier.copy(content, SEGMENT_IDENTIFIER_OFFSET);
    at += TAR_BLOCK + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  if (controls !== 1) throw new Error(`The cluster has ${controls} control files`);
  return copy;
}

/** The size of the control data differs between versions: the checksum is where it is right. */
function checksumOffset(control: Buffer): number {
  for (let at = 128; at < 1_024; at += 4)
    if (crc32c(control.subarray(0, at)) === control.readUInt32LE(at)) return at;
  throw new Error('The control file has no checksum');
}

/** CRC-32C (Castagnoli), reflected, as in RFC 3720. */
function crc32c(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
