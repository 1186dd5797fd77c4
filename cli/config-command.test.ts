import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { runCommand } from './test-support/run-command.js';

const folder = temporaryFolder();
let file = '';

beforeAll(() => {
  file = join(folder, 'fw.config.yaml');
  const database = { 'jdbc-url': 'jdbc:postgresql://db/wallet', username: 'wallet', password: 'hunter2' };
  const members = [{ member: 0, name: 'one', configs: { 'primary-config': database } }];
  const sharding = { 'default-shard': { group: 0, member: 0 }, groups: [{ group: 0, name: 'all', members }] };
  writeFileSync(file, JSON.stringify({ fw: { namespace: 'test', sharding } }));
  writeFileSync(join(folder, 'broken.yaml'), 'fw: { namespce: test }');
});
const config = (...argv: readonly string[]) => runCommand(['config', ...argv]);

test('check reports that there is no mistake, or all mistakes with their positions', async () => {
  expect(await config('check', '--config', file)).toEqual({
    code: 0,
    info: `${file}: 1 shard in 1 group, no mistakes`,
    error: '',
  });
  const broken = await config('check', '--config', join(folder, 'broken.yaml'));
  expect(broken.code).toBe(2);
  expect(broken.error).toContain('broken.yaml:1:7 fw.namespce: unknown key (did you mean "namespace"?)');
});

test('print shows the effective configuration, without secrets', async () => {
  const { code, info } = await config('print', '--config', file);
  expect(code).toBe(0);
  expect(info).toContain('"jdbc-url": "jdbc:postgresql://db:5432/wallet"');
  expect(info).toContain('"password": "***"');
  expect(info).not.toContain('hunter2');
});

test('print shows access settings as an equivalent file, without secrets', async () => {
  const access = {
    default: 'deny',
    'api-keys': true,
    jwt: { issuer: 'https://login.example/', audience: 'wallet', claims: 'role, region' },
    tenancy: { claim: 'region', unrestricted: 'role=operator' },
    'requests-per-second': 50,
    hosts: 'api.example, localhost',
  };
  const { fw } = JSON.parse(readFileSync(file, 'utf8')) as { readonly fw: object };
  const secured = join(folder, 'secured.yaml');
  writeFileSync(secured, JSON.stringify({ fw: { ...fw, access } }));
  const { code, info } = await config('print', '--config', secured);
  expect(code).toBe(0);
  expect(JSON.parse(info)).toMatchObject({ fw: { access } });
  expect(info).not.toContain('hunter2');
  const copy = join(folder, 'copy.yaml');
  writeFileSync(copy, info);
  expect((await config('print', '--config', copy)).info).toBe(info);
});

test('schema prints a JSON Schema', async () => {
  const { code, info } = await config('schema');
  expect(code).toBe(0);
  expect(JSON.parse(info)).toMatchObject({ title: 'fw.config.yaml', type: 'object' });
});
