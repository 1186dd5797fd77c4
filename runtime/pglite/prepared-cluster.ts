import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { PGlite } from '@electric-sql/pglite';
import { PGLITE_VERSION, type PgliteModule } from './load-pglite.js';

/** PostgreSQL's own 128 MB would be resident once for each database. Files stay in the cache of the system. */
const BUFFERS = ['-c', 'shared_buffers=32MB'];

/** Ends when no new cluster is being opened: one after the other, so that all but the first one copy it. */
let opening: Promise<unknown> = Promise.resolve();

/**
 * Opens a database in a directory, or a new one in memory. Creating a cluster takes two seconds, copying one a quarter
 * of a second: the first new cluster is therefore kept in `node_modules/.cache`, and all are copies of it. Where this
 * is impossible, as in a bundle, each is created in its place.
 */
export function openCluster(
  module: PgliteModule,
  directory: string | undefined,
  file: string | undefined = clusterFile(),
): Promise<PGlite> {
  const startParams = [...module.PGlite.defaultStartParams, ...BUFFERS];
  const place = directory === undefined ? { startParams } : { startParams, dataDir: directory };
  const isNew = directory === undefined || !existsSync(join(directory, VERSION_FILE));
  if (file === undefined || !isNew) return module.PGlite.create(place);
  const opened = opening.then(async () => {
    const tar = withOwnIdentifier(keptCluster(file) ?? (await newCluster(module, file)));
    if (directory === undefined) return module.PGlite.create({ startParams, loadDataDir: new Blob([tar]) });
    unpack(tar, directory);
    return module.PGlite.create(place);
  });
  opening = opened.catch(() => {});
  return opened;
}

/**
 * The file with the prepared cluster, in the `node_modules` that contains the embedded database. Undefined: there is
 * none, as in a bundle.
 */
export function clusterFile(): string | undefined {
  try {
    const path = createRequire(import.meta.url).resolve('@electric-sql/pglite');
    const [application = '', ...inside] = path.split(`${sep}node_modules${sep}`);
    const cache = join(application, 'node_modules', '.cache', 'fw-actions');
    return inside.length === 0 ? undefined : join(cache, `pglite-${PGLITE_VERSION}.tar.gz`);
  } catch {
    return undefined;
  }
}

/** Undefined: there is none, or it is damaged. */
function keptCluster(file: string): Tar | undefined {
  try {
    return new Uint8Array(gunzipSync(readFileSync(file)));
  } catch {
    return undefined;
  }
}

/** Creates a cluster, and keeps it. Other processes may do the same at the same time. */
async function newCluster(module: PgliteModule, file: string): Promise<Tar> {
  const database = await module.PGlite.create();
  await database.exec('checkpoint');
  const tar = new Uint8Array(await (await database.dumpDataDir('none')).arrayBuffer());
  await database.close();
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, gzipSync(tar, { level: 1 }));
    renameSync(draft, file);
  } catch {
    // A folder that cannot be written only costs the time.
    if (existsSync(draft)) rmSync(draft);
  }
  return tar;
}

/** `PG_VERSION` comes last: until then, the next start copies again. */
function unpack(tar: Tar, directory: string): void {
  const entries = [...entriesOf(tar)];
  for (const { name } of entries.filter((entry) => entry.isFolder))
    mkdirSync(join(directory, name), { recursive: true, mode: 0o700 });
  const isLast = (entry: Entry): boolean => entry.name === `/${VERSION_FILE}`;
  const files = entries.filter((entry) => !entry.isFolder);
  for (const { name, content } of [...files.filter((file) => !isLast(file)), ...files.filter(isLast)])
    writeFileSync(join(directory, name), content, { mode: 0o600 });
}

type Tar = Uint8Array<ArrayBuffer>;

const VERSION_FILE = 'PG_VERSION';
const TAR_BLOCK = 512;
const CONTROL_FILE = 'global/pg_control';
/** `xlp_sysid` of `XLogLongPageHeaderData` (src/include/access/xlog_internal.h), at the start of each segment. */
const SEGMENT_IDENTIFIER_OFFSET = 24;

interface Entry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly content: Buffer;
}

/** The entries of a POSIX tar archive (ustar) whose names have fewer than 100 characters. */
function* entriesOf(tar: Tar): Iterable<Entry> {
  const view = Buffer.from(tar.buffer);
  for (let at = 0; at + TAR_BLOCK <= view.length; ) {
    const name = view.toString('latin1', at, at + 100).replace(/\0.*$/s, '');
    if (name === '') return;
    const size = Number.parseInt(view.toString('latin1', at + 124, at + 136), 8);
    const content = view.subarray(at + TAR_BLOCK, at + TAR_BLOCK + size);
    yield { name, isFolder: view.toString('latin1', at + 156, at + 157) === '5', content };
    at += TAR_BLOCK + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
}

/**
 * Gives a cluster a system identifier of its own, because events are read in another way once a shard has moved to
 * another cluster. It is in the control file, before a checksum (`ControlFileData`, src/include/catalog/pg_control.h),
 * and in the first page of each segment of the write-ahead log.
 *
 * @throws Error if the files have another form
 */
function withOwnIdentifier(tar: Tar): Tar {
  const identifier = randomBytes(8);
  identifier.writeUInt8(identifier.readUInt8(7) & 0x7f, 7);
  let controls = 0;
  for (const { name, content } of entriesOf(tar)) {
    if (name.endsWith(CONTROL_FILE)) {
      const checksumAt = checksumOffset(content);
      identifier.copy(content);
      content.writeUInt32LE(crc32c(content.subarray(0, checksumAt)), checksumAt);
      controls += 1;
    } else if (/pg_wal\/[0-9A-F]{24}$/.test(name)) identifier.copy(content, SEGMENT_IDENTIFIER_OFFSET);
  }
  if (controls !== 1) throw new Error(`The cluster has ${controls} control files`);
  return tar;
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
