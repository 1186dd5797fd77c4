import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../../docs/pages.js';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { type Ran, runCommand } from '../test-support/run-command.js';

const folder = temporaryFolder();
const config = join(folder, 'fw.config.yaml');
const wallet = readFileSync(join(ROOT, 'examples/wallet/fw.config.postgres.yaml'), 'utf8');
const sinks = `  relay:
    sinks: [{ name: orders, webhook: { url: "http://127.0.0.1:9", secret: "${Buffer.alloc(32).toString('base64')}" } }]
`;

function run(...argv: readonly string[]): Promise<Ran> {
  return runCommand(argv);
}

beforeAll(() => {
  process.env['DB_PASSWORD'] = 'none';
  mkdirSync(join(folder, 'migrations'));
  const lock = readFileSync(join(ROOT, 'examples/wallet/migrations/events.lock'));
  writeFileSync(join(folder, 'migrations', 'events.lock'), lock);
  writeFileSync(config, wallet);
});

afterAll(() => {
  delete process.env['DB_PASSWORD'];
});

test('fw-gen connectors writes the files of each shard, and --check finds stale ones', async () => {
  const output = join(folder, 'connectors');
  const write = (...more: readonly string[]): Promise<Ran> =>
    run('connectors', '--config', config, '--output', output, ...more);
  expect((await write('--check')).code).toBe(1);
  expect((await write()).info).toBe(`5 files written in ${output}, 0 unchanged`);
  expect((await write('--check')).code).toBe(0);
  // Git may check out files with other line ends.
  const file = join(output, '1-0.sql');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'));
  expect((await write('--check')).code).toBe(0);
  writeFileSync(file, 'changed');
  const stale = await write('--check');
  expect(stale.code).toBe(1);
  expect(stale.error).toBe(
    `${join(output, '1-0.sql')} does not match the configuration. Run: fw-gen connectors`,
  );
});

test('fw-gen connectors --check names the files of a shard that the configuration no longer lists', async () => {
  const output = join(folder, 'fewer');
  const write = (...more: readonly string[]): Promise<Ran> =>
    run('connectors', '--config', config, '--output', output, ...more);
  await write();
  writeFileSync(join(output, '7-0.sql'), '');
  writeFileSync(join(output, 'notes.txt'), '');
  const left = `${join(output, '7-0.sql')} belongs to no shard of the configuration. Delete it.`;
  expect(await write('--check')).toEqual({ code: 1, info: '', error: left });
  expect(await write()).toMatchObject({ code: 0, error: left });
});

test('fw-gen schemas writes one file for each version of each event', async () => {
  const output = join(folder, 'schemas');
  const { code, info } = await run('schemas', '--config', config, '--output', output);
  expect({ code, info }).toEqual({ code: 0, info: `9 schemas written in ${output}` });
  const text = readFileSync(join(output, 'WalletCreatedEvent', '1.json'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ $id: '/schemas/WalletCreatedEvent/1.json', type: 'object' });
});

test.each([
  ['connectors', '--output'],
  ['schemas', '--output'],
  ['openapi', '--out'],
])('fw-gen %s names the file that it cannot write', async (command, option) => {
  const file = join(folder, 'config-in-the-way');
  writeFileSync(file, '');
  const { code, error } = await run(command, '--config', config, option, join(file, 'below'));
  expect([code, error]).toEqual([2, expect.stringContaining(`The file ${file} blocks the path`)]);
});

test.each(['relay', 'top'])(
  'fw-gen %s does not open embedded databases, so that a server can start meanwhile',
  async (name) => {
    const embedded = join(folder, `${name}.yaml`);
    const data = join(folder, `${name}-data`);
    const yaml = readFileSync(join(ROOT, 'fw.config.yaml'), 'utf8');
    writeFileSync(
      embedded,
      yaml.replaceAll('file:./data/', `file:${data}/`) + sinks.replace('latest', 'stored'),
    );
    const running = await runCommand([name, '--config', embedded], AbortSignal.timeout(1_500));
    expect([running.code, existsSync(data)]).toEqual([0, false]);
    expect(running.info + running.error).toContain('No server has the embedded database in');
  },
);

test('fw-gen relay reports why it cannot run', async () => {
  const without = await run('relay', '--config', config);
  expect(without.code).toBe(2);
  expect(without.error).toContain('has no fw.relay. docs/integration.md shows how to set up sinks');
  const withSinks = join(folder, 'relay.yaml');
  writeFileSync(withSinks, wallet + sinks);
  const unknown = await run('relay', '--config', withSinks, '--sink', 'other');
  expect(unknown.error).toContain('Sink other does not exist. Choose one of: orders.');
});
