import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { PGlite } from '@electric-sql/pglite';
import { LOCK_PREFIX } from './directory-lock.js';
import { PGLITE_VERSION, type PgliteModule } from './load-pglite.js';

/** PostgreSQL's own 128 MB would be resident once for each database. Files stay in the cache of the system. */
const BUFFERS = ['-c', 'shared_buffers=32MB'];
/** Exists in a directory while its cluster is being created. */
const UNFINISHED = 'fw-actions-unfinished';

/** Ends when no new cluster is being opened: one after the other, so that all but the first one copy it. */
let opening: Promise<unknown> = Promise.resolve();

/**
 * Opens a database in a directory, or a new one in memory. Creating a cluster takes seconds, copying one a quarter of a
 * second: the first new cluster in memory is therefore kept in `node_modules/.cache`, and later ones are copies of it.
 * A cluster in a directory is never a copy, because its system identifier must be its own: events are read in another
 * way once a shard has moved to another cluster.
 */
export function openCluster(
  module: PgliteModule,
  directory: string | undefined,
  file: string | undefined = clusterFile(),
): Promise<PGlite> {
  const startParams = [...module.PGlite.defaultStartParams, ...BUFFERS];
  if (directory !== undefined) return openDirectory(module, directory, startParams);
  if (file === undefined) return module.PGlite.create({ startParams });
  const opened = opening.then(async () => {
    const cluster = keptCluster(file) ?? (await newCluster(module, file));
    return module.PGlite.create({ startParams, loadDataDir: cluster });
  });
  opening = opened.catch(() => {});
  return opened;
}

/** Creates the cluster again if the process was killed while it created it. */
async function openDirectory(
  module: PgliteModule,
  directory: string,
  startParams: string[],
): Promise<PGlite> {
  const mark = join(directory, UNFINISHED);
  if (existsSync(mark)) {
    for (const name of readdirSync(directory))
      if (name !== UNFINISHED && !name.startsWith(LOCK_PREFIX))
        rmSync(join(directory, name), { recursive: true });
  } else if (existsSync(join(directory, 'PG_VERSION')))
    return module.PGlite.create({ startParams, dataDir: directory });
  writeFileSync(mark, '');
  const database = await module.PGlite.create({ startParams, dataDir: directory });
  rmSync(mark);
  return database;
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
function keptCluster(file: string): Blob | undefined {
  try {
    return new Blob([gunzipSync(readFileSync(file))]);
  } catch {
    return undefined;
  }
}

/** Creates a cluster, and keeps it. Other processes may do the same at the same time. */
async function newCluster(module: PgliteModule, file: string): Promise<Blob> {
  const database = await module.PGlite.create();
  await database.exec('checkpoint');
  const cluster = await database.dumpDataDir('none');
  await database.close();
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, gzipSync(await cluster.arrayBuffer(), { level: 1 }));
    renameSync(draft, file);
  } catch {
    // A folder that cannot be written only costs the time.
    if (existsSync(draft)) rmSync(draft);
  }
  return cluster;
}
