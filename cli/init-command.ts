import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { type CommandEntry, command, flag, text } from './command.js';
import type { FolderContent } from './init/fit-files.js';
import { InputError } from './input-error.js';
import { expectSystemError, makeFiles } from './make-files.js';

/** `fw-gen init` */
export const INIT: CommandEntry = command({
  name: 'init',
  about: 'Creates a runnable project, with tests, a pipeline, an image and a development token.',
  examples: [
    ['fw-gen init my-app', 'in a new folder'],
    ['fw-gen init --yes', 'in this folder, which may contain files'],
  ],
  inputs: {
    dir: text('[dir]', ''),
    yes: flag('--yes', 'also in a folder that contains files: adds to some of them, and replaces none'),
  },
  run: async ({ dir = '.', yes }, { version }) => ({ lines: await initProject(dir, yes === true, version) }),
});

async function initProject(folder: string, yes: boolean, version: string): Promise<readonly string[]> {
  const { exampleRequest, projectFiles, SECRET_FILES, TOKEN_FILE } = await import('./init/project-files.js');
  const { fitFiles } = await import('./init/fit-files.js');
  const directory = resolve(folder);
  const below = relative(process.cwd(), directory);
  const shown = below === '' ? '.' : below.startsWith('..') ? directory : below;
  const token = randomSecret();
  const files = projectFiles({
    name: packageName(directory),
    frameworkRange: `^${version}`,
    token,
    databasePassword: randomSecret(),
  });
  const content = contentOf(directory);
  const { created, changed, replaced, conflicts, description, formatters } = fitFiles(files, content);
  if (conflicts.length > 0) {
    throw new InputError(
      `${shown} already contains ${conflicts.join(', ')}. init never replaces a file or a value: choose another folder.`,
    );
  }
  if (!yes && content.names.length > 0)
    throw new InputError(`${shown} is not empty. Pass --yes to add the project to its files.`);
  const inDirectory = (path: string): string => join(directory, path);
  const absolute = (texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
    new Map([...texts].map(([path, text]) => [inDirectory(path), text]));
  makeFiles(absolute(created), { secrets: SECRET_FILES.map(inDirectory), changed: absolute(changed) });
  const added = [...changed.keys()].map((path) => `Added to ${path}. `).join('');
  const instead =
    replaced.length === 0
      ? ''
      : `Replaced in package.json what npm init had written: ${replaced.join(', ')}. `;
  const formatted = formatters.map((name) => `Let ${name} ignore src/generated.`);
  const manager = packageManagerOf(content);
  const byNpm =
    manager === 'npm' ? [] : [`Let Dockerfile and .github/workflows/ci.yml install by ${manager}.`];
  const enter = shown === '.' ? [] : [`  cd ${/^[\w./-]+$/.test(shown) ? shown : JSON.stringify(shown)}`];
  return [
    `${created.size} files written in ${shown === '.' ? 'this folder' : shown}. ${added}${instead}Next:`,
    ...[...formatted, ...byNpm].map((line) => `  # ${line}`),
    ...enter,
    `  ${manager} install`,
    `  ${manager} test`,
    `  ${manager} run dev`,
    'Then, in another terminal:',
    `  ${exampleRequest(token)}`,
    `The token is in ${TOKEN_FILE}, which is not committed. Requests without it are refused.`,
    `${description} describes the checks of the pipeline, and the image.`,
  ];
}

function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

function contentOf(directory: string): FolderContent {
  const inDirectory = (path: string): string => join(directory, path);
  return {
    names: existsSync(directory) ? expectSystemError('read', () => readdirSync(directory)) : [],
    has: (path) => existsSync(inDirectory(path)),
    read: (path) => expectSystemError('read', () => readFileSync(inDirectory(path), 'utf8')),
  };
}

/** What installs the packages of a folder, by the field `packageManager` of its package.json or by its lock file. */
function packageManagerOf({ has, read }: FolderContent): string {
  const [, named] =
    /"packageManager"\s*:\s*"(pnpm|yarn)@/.exec(has('package.json') ? read('package.json') : '') ?? [];
  return named ?? (has('pnpm-lock.yaml') ? 'pnpm' : has('yarn.lock') ? 'yarn' : 'npm');
}

/** A valid npm package name, from the folder's name. */
function packageName(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' ? 'app' : name;
}
