import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Major versions of Node.js besides the running one, separated by commas: `22,24,26`. */
const VARIABLE = 'FW_PROOF_NODES';

/** A Node.js version that runs a project's scripts. */
export interface NodeVersion {
  /** `v24.9.0` */
  readonly version: string;
  /** Environment in which `node` is this version. */
  readonly env: NodeJS.ProcessEnv;
}

/** The running Node.js, and those that `FW_PROOF_NODES` names, which npm installs into `folder`. */
export async function nodeVersions(folder: string): Promise<readonly NodeVersion[]> {
  const majors = (process.env[VARIABLE] ?? '').split(',').filter((major) => major !== '');
  const others = majors.map((major) => install(major, join(folder, `node-${major}`)));
  return Promise.all([dirname(process.execPath), ...(await Promise.all(others))].map(versionIn));
}

async function install(major: string, folder: string): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${major}`]);
  const bin = join(folder, 'node_modules', name, 'bin');
  if (!existsSync(join(bin, 'node'))) throw new Error(`${name}@${major} brings no bin/node`);
  return bin;
}

async function versionIn(bin: string): Promise<NodeVersion> {
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const { stdout } = await run(join(bin, 'node'), ['--version']);
  return { version: stdout.trim(), env };
}
