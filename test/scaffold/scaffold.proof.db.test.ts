import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { SECRET_FILES } from '../../cli/init/project-files.js';
import { readDockerfile } from '../../cli/init/test-support/dockerfile.js';
import { post } from '../customer/http-client.js';
import { type PostgresServer, startPostgres } from '../databases/server.js';
import { buildImage, type Image } from './image.js';
import { type NewProjectFolder, newProject } from './new-project.js';
import { listening, type Program } from './program.js';

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const run = promisify(execFile);
/** A user without rights: the image's own user does not exist on this machine. */
const UNPRIVILEGED = 65_534;
const programs: Program[] = [];
let servers: readonly PostgresServer[] = [];
let project: NewProjectFolder;

beforeAll(async () => {
  project = await newProject();
  // Another user runs the image.
  chmodSync(project.home, 0o755);
  servers = [await startPostgres(), await startPostgres()];
});

afterAll(async () => {
  await Promise.all(programs.map((each) => each.end()));
  await Promise.all(servers.map((each) => each.destroy()));
  project?.remove();
});

/** The lines that `fw-gen init` prints as commands. */
function printedCommands(): readonly string[] {
  return project.printed.split('\n').flatMap((line) => (line.startsWith('  ') ? [line.trim()] : []));
}

async function shell(line: string, cwd: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const { stdout } = await run('sh', ['-c', line], { cwd, env });
  return stdout;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port');
  return address.port;
}

test('every command that init prints works as printed', async () => {
  const [enter, ...commands] = printedCommands();
  expect(enter).toBe('cd notes');
  const request = commands.pop() ?? '';
  const dev = commands.pop() ?? '';
  expect(commands).toEqual(['npm install', 'npm test']);
  for (const each of commands) await shell(each, project.folder);
  const port = await freePort();
  const running = await listening(dev.split(' '), {
    cwd: project.folder,
    env: { ...process.env, PORT: String(port) },
  });
  programs.push(running);
  const url = request.replace('8080', String(port));
  expect(await shell(url, project.folder)).toMatch(/^HTTP\/1\.1 201 Created/);
  expect(await shell(url.replace('Bearer ', 'Bearer x'), project.folder)).toMatch(/^HTTP\/1\.1 401 /);
  await running.end();
});

test('the pipeline passes in a clone of the committed files', async () => {
  const git = 'git -c init.defaultBranch=main -c user.name=test -c user.email=test@example.org';
  await shell(`${git} init -q && ${git} add -A && ${git} commit -qm 'Start'`, project.folder);
  await shell(`${git} clone -q notes clone`, project.home);
  const clone = join(project.home, 'clone');
  expect(readdirSync(clone).filter((path) => SECRET_FILES.includes(path))).toEqual([]);
  const { jobs } = parse(readFileSync(join(clone, '.github/workflows/ci.yml'), 'utf8')) as {
    readonly jobs: { readonly check: { readonly steps: readonly { readonly run?: string }[] } };
  };
  const lines = jobs.check.steps.flatMap((step) => step.run ?? []);
  expect(lines).toHaveLength(4);
  for (const line of lines) await shell(line, clone);
});

test('the image of the Dockerfile serves callers with API keys on two PostgreSQL servers', async () => {
  const read = (path: string): string => readFileSync(join(project.folder, path), 'utf8');
  const image = buildImage(readDockerfile(read('Dockerfile')), {
    context: project.folder,
    home: project.home,
    ignored: read('.dockerignore').split('\n'),
  });
  expect(readdirSync(image.folder).sort()).toEqual([
    ...['dist', 'fw.config.yaml', 'node_modules', 'package.json', 'src'],
  ]);
  const compiled = ['note-read-action.js', 'note-write-action.js'];
  expect(readdirSync(join(image.folder, 'dist/actions')).sort()).toEqual(
    compiled.flatMap((file) => [file, `${file}.map`]),
  );
  for (const name of ['typescript', '@electric-sql'])
    expect(readdirSync(join(image.folder, 'node_modules'))).not.toContain(name);

  const port = String(await freePort());
  const env = { ...environmentOfContainer(image), PORT: port };
  const uid = process.getuid?.() === 0 ? UNPRIVILEGED : undefined;
  programs.push(
    await listening(image.command, { cwd: image.folder, env, ...(uid === undefined ? {} : { uid }) }),
  );
  const [program = '', ...args] = image.healthcheck;
  await run(program, args, { env });
  const create = ['fw-gen', 'keys', 'create', '--principal', 'me'];
  const { stdout: key } = await run('npx', create, { cwd: image.folder, env });
  const write = (token: string) =>
    post<{ readonly id: string }>(
      `http://127.0.0.1:${port}/notes`,
      { text: 'Buy milk' },
      { authorization: `Bearer ${token}` },
    );
  expect((await write(read('.dev-token').trim())).status).toBe(401);
  const written = await Promise.all(Array.from({ length: 32 }, () => write(key.trim())));
  expect(written.map(({ status }) => status)).toEqual(written.map(() => 201));
  // The member is part of the id: both servers got notes.
  expect(new Set(written.map(({ body }) => body.id.slice(19, 23))).size).toBe(2);
});

/** The environment of compose and the Dockerfile, with the addresses of our servers. */
function environmentOfContainer({ environment }: Image): NodeJS.ProcessEnv {
  const composition = parse(readFileSync(join(project.folder, 'compose.yaml'), 'utf8')) as {
    readonly services: { readonly app: { readonly environment: Readonly<Record<string, string>> } };
  };
  const [one, two] = servers;
  if (one === undefined || two === undefined) throw new TypeError('There are two servers');
  const place = ({ host, port, database }: PostgresServer): string =>
    `jdbc:postgresql://${host}:${port}/${database}`;
  const given = {
    DB_1_URL: place(one),
    DB_2_URL: place(two),
    DB_USER: one.user,
    DB_PASSWORD: one.password,
  };
  expect(Object.keys(composition.services.app.environment)).toEqual(Object.keys(given));
  const home = join(project.home, 'empty');
  mkdirSync(home);
  // No other variables of this process, because an image has none of them. HOST stays on this machine.
  return { PATH: process.env['PATH'], HOME: home, ...environment, HOST: '127.0.0.1', ...given };
}
