import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../runtime/config/index.js';
import { projectFiles, SECRET_FILES } from './project-files.js';
import { environmentOf, instructionsOf, readCopy, readDockerfile } from './test-support/dockerfile.js';

const SECRETS = { token: 'T0kenT0kenT0ken', databasePassword: 'P4ssw0rd' };
const files = projectFiles({ name: 'notes', frameworkRange: '^1.2.3', ...SECRETS });
const fileOf = (path: string): string => files.get(path) ?? `there is no ${path}`;
const { scripts } = JSON.parse(fileOf('package.json')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

interface Service {
  readonly image?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
}

interface Composition {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

interface Pipeline {
  readonly permissions: object;
  readonly jobs: { readonly check: { readonly steps: readonly { readonly run?: string }[] } };
}

/** Whether a shell line names only known scripts and commands. */
function isKnownCommand(line: string): boolean {
  const [, script] = /^npm (?:run )?([a-z]+)$/.exec(line) ?? [];
  if (script !== undefined && script !== 'ci') return script in scripts;
  return /^npm ci( --omit=dev)?$|^npx fw-gen (generate|migrate diff) /.test(line);
}

describe('the Dockerfile of a new project', () => {
  const stages = readDockerfile(fileOf('Dockerfile'));
  const [build, dependencies, image] = stages;
  if (build === undefined || dependencies === undefined || image === undefined)
    throw new TypeError('there are three stages');
  const context = fileOf('.dockerignore').split('\n').filter(Boolean);

  test('runs scripts that exist, and copies files that exist into stages and out of them', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', 'dependencies', undefined]);
    expect(
      stages.flatMap((each) => instructionsOf(each, 'RUN')).filter((line) => !isKnownCommand(line)),
    ).toEqual([]);
    const copies = stages.flatMap((each) => instructionsOf(each, 'COPY').map(readCopy));
    const made = ['package-lock.json', ...files.keys()];
    const inContext = copies.filter(({ from }) => from === undefined).flatMap(({ sources }) => sources);
    expect(inContext.filter((path) => !context.includes(`!${path}`))).toEqual([]);
    expect(
      inContext.filter((path) => !made.some((each) => each === path || each.startsWith(`${path}/`))),
    ).toEqual([]);
    const ofStages = copies.flatMap(({ from }) => (from === undefined ? [] : [from]));
    expect(ofStages).toEqual(['dependencies', 'build', 'build']);
  });

  test('produces an image that runs the compiled program with production packages, not as root', () => {
    expect(instructionsOf(dependencies, 'RUN')).toEqual(['npm ci --omit=dev']);
    expect(instructionsOf(image, 'RUN')).toEqual([]);
    expect(image.instructions.map(({ name }) => name)).toEqual([
      ...['ENV', 'WORKDIR', 'COPY', 'COPY', 'COPY', 'COPY', 'USER', 'EXPOSE', 'HEALTHCHECK', 'CMD'],
    ]);
    expect(instructionsOf(image, 'USER')).toEqual(['node']);
    // The script generates and compiles before.
    const started = scripts['start']?.split(' && ').at(-1);
    expect(instructionsOf(image, 'CMD')).toEqual([JSON.stringify(started?.split(' ')).replaceAll(',', ', ')]);
  });

  test('contains no tests', () => {
    expect(context.at(-1)).toBe('**/*.test.ts');
    expect([...files.keys()].filter((path) => path.includes('.test.'))).toEqual(
      [...files.keys()].filter((path) => path.endsWith('.test.ts')),
    );
  });

  test('has no access to secrets', () => {
    expect(context[0]).toBe('*');
    const taken = context.slice(1).map((line) => line.replace('!', ''));
    const secret = [...files].filter(([, text]) =>
      Object.values(SECRETS).some((each) => text.includes(each)),
    );
    expect(secret.map(([path]) => path)).toEqual(SECRET_FILES);
    expect(SECRET_FILES.filter((path) => taken.some((each) => path.startsWith(each)))).toEqual([]);
    expect(fileOf('.gitignore').split('\n')).toEqual(expect.arrayContaining([...SECRET_FILES]));
  });

  test('accepts API keys, and uses two PostgreSQL servers from compose’s environment', () => {
    const { services, volumes } = parse(fileOf('compose.yaml')) as Composition;
    const { app, ...databases } = services;
    expect(Object.values(databases).map((each) => each.image)).toEqual(['postgres:18', 'postgres:18']);
    expect(app?.depends_on).toEqual({
      'db-1': { condition: 'service_healthy' },
      'db-2': { condition: 'service_healthy' },
    });
    for (const [name, database] of Object.entries(databases)) {
      expect(database.environment['POSTGRES_PASSWORD']).toBe(app?.environment['DB_PASSWORD']);
      expect(database.environment['POSTGRES_USER']).toBe(app?.environment['DB_USER']);
      expect(database.healthcheck?.test).toContain('pg_isready');
      expect(database.volumes).toEqual([`${name}:/var/lib/postgresql`]);
      expect(volumes).toHaveProperty(name);
    }
    expect(app?.environment['DB_PASSWORD']).toMatch(/^\$\{DB_PASSWORD:\?/);
    expect(fileOf('.env')).toContain(`DB_PASSWORD=${SECRETS.databasePassword}\n`);
    const env = { ...environmentOf(image), ...app?.environment };
    const { access, sharding } = parseConfig(fileOf('fw.config.yaml'), { file: 'fw.config.yaml', env });
    expect([access.default, access.apiKeys]).toEqual(['deny', true]);
    const members = sharding.groups.flatMap((group) => group.members);
    expect(members.map(({ primary }) => [primary.username, primary.url])).toEqual(
      Object.keys(databases).map((host) => ['app', expect.objectContaining({ host, database: 'app' })]),
    );
  });
});

test('the scripts need no other package manager, and none before or after them, which Yarn would not run', () => {
  expect(Object.keys(scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
  expect(Object.values(scripts).filter((line) => /\b(npm|npx)\b/.test(line))).toEqual([]);
});

test('on the machine of a developer, the configuration needs no variables', () => {
  const { access, sharding } = parseConfig(fileOf('fw.config.yaml'), { file: 'fw.config.yaml', env: {} });
  expect([access.default, access.apiKeys]).toEqual(['deny', false]);
  expect(sharding.groups.flatMap(({ members }) => members)).toHaveLength(2);
});

test('the pipeline installs, compares generated code, looks for missing migrations and runs the tests', () => {
  const { permissions, jobs } = parse(fileOf('.github/workflows/ci.yml')) as Pipeline;
  const lines = jobs.check.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
  expect(lines).toEqual([
    'npm ci',
    'npx fw-gen generate --check --strict --format github',
    'npx fw-gen migrate diff --check',
    'npm test',
  ]);
  expect(lines.filter((line) => !isKnownCommand(line))).toEqual([]);
  expect(permissions).toEqual({ contents: 'read' });
});
