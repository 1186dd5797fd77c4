// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written like this in YAML.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fwGen, type Ran } from '../generator/test-support/fw-gen.js';
import { type TestProject, testProject } from '../generator/test-support/projects.js';

/** None of these variables and files exists on a machine that builds the application. */
const CONFIGURATION = `fw:
  namespace: test
  generator: { source: src, output: src/generated, migrations: src/migrations, templates: templates, title: "\${TITLE:-Test}" }
  migrate-at-start: "\${UNSET_MIGRATE}"
  execution: { timeout-ms: "\${UNSET_TIMEOUT}" }
  http: { contact: a@example.org, tls: { certificate: "\${UNSET_CERTIFICATE}", key: "\${file:/unset/key}" } }
  relay:
    schema-base-url: https://schemas.example.org
    sinks:
      - { name: hook, webhook: { url: "\${UNSET_URL}", secret: "\${UNSET_WEBHOOK_SECRET}" } }
      - { name: nats, nats: { servers: ["nats://one"], user: fw, password: "\${UNSET_NATS}" } }
  sharding:
    default-shard: { group: 0, member: 0 }
    groups:
      - group: 0
        name: one
        members:
          - member: 0
            name: one-1
            configs:
              primary-config: { jdbc-url: "jdbc:postgresql://db/wallet", username: fw, password: "\${UNSET_PASSWORD}" }
`;

let project: TestProject;

beforeAll(() => {
  project = testProject();
  project.write('fw.config.yaml', CONFIGURATION);
  project.write('templates/README.md', 'Templates.');
});

afterAll(() => project.delete());

function run(...words: readonly string[]): Promise<Ran> {
  return fwGen(...words, '--config', project.config);
}

describe('without the environment of the application', () => {
  test.each([
    'generate',
    'generate --check',
    'openapi',
    'explain src/models/customer.ts',
    'migrate diff --dry-run',
    'migrate diff --check',
    'templates eject model',
  ])('fw-gen %s', async (command) => {
    const words = command.split(' ');
    expect(await run(...words)).toMatchObject({ code: 0, error: '' });
  });

  test.each([
    ['schemas', '1 schema written'],
    ['connectors', '3 files written'],
  ])('fw-gen %s', async (command, written) => {
    const ran = await run(command, '--output', join(project.folder, command));
    expect(ran).toMatchObject({ code: 0, error: '', info: expect.stringContaining(written) });
  });

  test('fw-gen migrate rename', async () => {
    const { error } = await run('migrate', 'rename', 'Customer.absent', 'present');
    expect(error).not.toContain('UNSET');
    expect(error).toContain('Nothing was written');
  });

  test.each([
    ['migrate status', ['PASSWORD']],
    ['events lag', ['PASSWORD']],
    ['doctor', ['PASSWORD']],
    ['relay', ['URL', 'WEBHOOK_SECRET', 'NATS', 'PASSWORD']],
    ['config check', ['MIGRATE', 'TIMEOUT', 'CERTIFICATE', 'URL', 'WEBHOOK_SECRET', 'NATS', 'PASSWORD']],
  ])('fw-gen %s names what it lacks, and nothing else', async (command, lacks) => {
    const { code, error } = await run(...command.split(' '));
    const named = [...error.matchAll(/variable UNSET_(\w+) is not set/g)].map(([, name]) => name);
    expect([code, named]).toEqual([2, lacks]);
  });

  test('a variable that the command uses is required, and only that one is named', async () => {
    project.write('unset.yaml', CONFIGURATION.replace('TITLE:-Test', 'UNSET_TITLE'));
    const { code, error } = await fwGen('generate', '--config', join(project.folder, 'unset.yaml'));
    expect([code, error]).toEqual([2, expect.stringContaining('fw.generator.title')]);
    expect(error).toContain('the environment variable UNSET_TITLE is not set');
    expect(error.match(/UNSET_/g)).toHaveLength(1);
  });

  test('a mistake is reported where every variable is set', async () => {
    const text = CONFIGURATION.replaceAll(/\$\{UNSET_\w+\}|\$\{file:.*?\}/g, '7').replace('sinks', 'sink');
    project.write('wrong.yaml', text);
    const { code, error } = await fwGen('generate', '--config', join(project.folder, 'wrong.yaml'));
    expect([code, error]).toEqual([2, expect.stringContaining('fw.relay.sink: unknown key')]);
  });
});

test('a mistake is reported behind the unset values of many shards', async () => {
  const shard = (member: number): string => `
          - member: ${member}
            name: one-${member}
            configs: { primary-config: { jdbc-url: "jdbc:postgresql://db/w${member}", username: "\${UNSET_USER}", password: "\${UNSET_PASSWORD}" } }`;
  const members = Array.from({ length: 60 }, (_, member) => shard(member)).join('');
  const head = CONFIGURATION.slice(0, CONFIGURATION.indexOf('\n          - member:'));
  project.write('many.yaml', `${head.replace('"${TITLE:-Test}"', '5')}${members}\n`);
  const { code, error } = await fwGen('generate', '--config', join(project.folder, 'many.yaml'));
  expect(error).toContain('fw.generator.title: must be a string, found 5');
  expect(code).toBe(2);
});
