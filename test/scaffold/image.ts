import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf, environmentOf, readCopy, type Stage } from '../../cli/init/test-support/dockerfile.js';

/** The result of a build: the files of the last stage, and how to run them. */
export interface Image {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/**
 * Simulates a build of the stages, with a folder for each stage and the programs of this machine. All stages have
 * `/app` as their working directory.
 *
 * @param context the project
 * @param home holds the folders
 * @param ignored the lines of `.dockerignore`: all but what its lines with `!` name, and of that no file with a suffix
 *   of the lines with stars
 */
export function buildImage(
  stages: readonly Stage[],
  {
    context,
    home,
    ignored,
  }: { readonly context: string; readonly home: string; readonly ignored: readonly string[] },
): Image {
  const folders = new Map<string, string>();
  const sent = join(home, 'context');
  const suffixes = ignored.filter((each) => each.startsWith('**/*')).map((each) => each.slice('**/*'.length));
  const isSent = (path: string): boolean => !suffixes.some((suffix) => path.endsWith(suffix));
  for (const line of ignored.filter((each) => each.startsWith('!')))
    cpSync(join(context, line.slice(1)), join(sent, line.slice(1)), { recursive: true, filter: isSent });
  let last: Image | undefined;
  for (const [index, stage] of stages.entries()) {
    const folder = join(home, `stage-${index}`);
    mkdirSync(folder, { recursive: true });
    for (const { name, rest } of stage.instructions) {
      if (name === 'RUN') runIn(folder, rest);
      if (name === 'COPY')
        copyTo(folder, readCopy(rest), (from) => (from === undefined ? sent : folders.get(from)));
    }
    if (stage.name !== undefined) folders.set(stage.name, folder);
    last = {
      folder,
      environment: environmentOf(stage),
      command: commandOf(stage, 'CMD'),
      healthcheck: commandOf(stage, 'HEALTHCHECK'),
    };
  }
  if (last === undefined) throw new TypeError('A Dockerfile has a stage');
  return last;
}

function copyTo(
  folder: string,
  { from, sources, target }: ReturnType<typeof readCopy>,
  folderOf: (from: string | undefined) => string | undefined,
): void {
  const source = folderOf(from);
  if (source === undefined) throw new TypeError(`There is no stage ${from}`);
  for (const path of sources) {
    const relative = path.replace(/^\/app\//, '');
    const isInto = target === './' && from === undefined;
    cpSync(join(source, relative), join(folder, isInto ? relative : target), { recursive: true });
  }
}

function runIn(cwd: string, line: string): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`RUN ${line} ended with ${status}:\n${stdout}${stderr}`);
}
