import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../runtime/config/index.js';
import { projectFiles, SECRET_FILES } from './project-files.js';
import { environmentOf, instructionsOf, readDockerfile } from './test-support/dockerfile.js';

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

describe('the Dockerfile of a new project', () => {
  const image = readDockerfile(fileOf('Dockerfile')).at(-1) ?? { name: undefined, instructions: [] };

  test('produces an image that does not run as root', () => {
    expect(instructionsOf(image, 'USER')).toEqual(['node']);
  });

  test('has no access to secrets', () => {
    const context = fileOf('.dockerignore').split('\n').filter(Boolean);
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
  expect(permissions).toEqual({ contents: 'read' });
});
