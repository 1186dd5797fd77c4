import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { type CommandEntry, command, flag, text } from './command.js';
import type { FolderContent } from './init/fit-files.js';
import { InputError } from './input-error.js';
import { expectSystemError, makeFiles } from './make-files.js';

/** `fw-gen init` */
export const INIT: CommandEntry = command({
  name: 'init',
  about: 'Creates a runnable project, with tests, a pipeline, an image and a development token.',
  examples: [
    ['fw-gen init my-app', 'in a new folder, after a confirmation'],
    ['fw-gen init --yes', 'in this folder, from a script'],
  ],
  inputs: { dir: text('[dir]', ''), yes: flag('--yes', 'do not ask for confirmation') },
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
  const { created, changed, conflicts, description, formatters } = fitFiles(files, content);
  if (conflicts.length > 0) {
    throw new InputError(
      `${shown} already contains ${conflicts.join(', ')}. init never replaces a file or a value: choose another folder.`,
    );
  }
  if (!yes && !(await isWanted(shown, content.names.length > 0))) return ['No file was written.'];
  const inDirectory = (path: string): string => join(directory, path);
  const absolute = (texts: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
    new Map([...texts].map(([path, text]) => [inDirectory(path), text]));
  makeFiles(absolute(created), { secrets: SECRET_FILES.map(inDirectory), changed: absolute(changed) });
  const added = [...changed.keys()].map((path) => `Added to ${path}. `).join('');
  const formatted = formatters.map((name) => `Let ${name} ignore src/generated.`);
  const enter = shown === '.' ? [] : [`  cd ${/^[\w./-]+$/.test(shown) ? shown : JSON.stringify(shown)}`];
  return [
    `${created.size} files written in ${shown === '.' ? 'this folder' : shown}. ${added}Next:`,
    ...formatted.map((line) => `  # ${line}`),
    ...enter,
    '  npm install',
    '  npm test',
    '  npm run dev',
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

async function isWanted(folder: string, holdsFiles: boolean): Promise<boolean> {
  if (!process.stdin.isTTY) throw new InputError('Pass --yes in a non-interactive shell.');
  const questions = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const state = holdsFiles ? ', which is not empty' : '';
    const answer = await questions.question(`Create a project in ${folder}${state}? [Y/n] `);
    return /^(y|yes|)$/i.test(answer.trim());
  } finally {
    questions.close();
  }
}

/** A valid npm package name, from the folder's name. */
function packageName(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' ? 'app' : name;
}
