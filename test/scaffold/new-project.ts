import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** Flags of installs whose output is not read. */
export const QUIETLY: readonly string[] = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];

/** A project that `fw-gen init` has created from the packed package. */
export interface NewProjectFolder {
  /** A separate folder with the package. */
  readonly home: string;
  /** Folder of the project, inside `home`. */
  readonly folder: string;
  /** Output of `fw-gen init`. */
  readonly printed: string;
  remove(): void;
}

/** Packs the package into a folder. @returns the path of the archive */
export async function packInto(folder: string): Promise<string> {
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: ROOT });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(folder, filename);
}

/** Packs the package and creates a project from it, without installing it. */
export async function newProject(): Promise<NewProjectFolder> {
  const home = mkdtempSync(join(tmpdir(), 'fw-new-project-'));
  const packed = await packInto(home);
  const init = ['exec', '--yes', `--package=${packed}`, '--', 'fw-gen', 'init', 'notes', '--yes'];
  const { stdout: printed } = await run('npm', init, { cwd: home });
  const folder = join(home, 'notes');
  const manifest = join(folder, 'package.json');
  const content = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies: Record<string, string> };
  // The version that init requires is not published yet.
  content.dependencies['fw-actions'] = `file:${packed}`;
  writeFileSync(manifest, JSON.stringify(content, undefined, 2));
  return { home, folder, printed, remove: () => rmSync(home, { recursive: true, force: true }) };
}
