import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixedPrincipal } from '../../access/authenticator.js';
import { temporaryFolder } from '../../config/test-support/temporary-folder.js';
import { emptyApplication } from '../test-support/empty-application.js';
import { FakeProcess } from '../test-support/fake-process.js';
import { serveApplication } from './serve-application.js';

const application = {
  ...emptyApplication,
  migrations: [{ name: '0001_things', up: 'create table things (id uuid)' }],
};

const member = (number: number, more: object = {}): object => ({
  member: number,
  name: `member-${number}`,
  configs: { 'primary-config': { 'jdbc-url': `jdbc:pglite:mem:reload-${number}` } },
  ...more,
});

function yaml(...members: readonly object[]): string {
  const sharding = { 'default-shard': { group: 0, member: 0 }, groups: [{ group: 0, name: 'all', members }] };
  return JSON.stringify({ fw: { namespace: 'test', sharding } });
}

const folder = temporaryFolder();
const config = join(folder, 'fw.config.yaml');
writeFileSync(config, yaml(member(0)));

const logged = (port: FakeProcess, text: string): Promise<void> =>
  expect.poll(() => port.err, { timeout: 20_000, interval: 20 }).toContain(text);

it('A process that serves follows its configuration, and keeps what it has when the new one is refused', async () => {
  const port = new FakeProcess();
  const options = { authenticator: fixedPrincipal('tester'), collaborators: {}, env: {} };
  const argv = ['--config', config, '--port', '0'];
  const server = await serveApplication(application, { ...options, argv }, port);
  const shards = async (): Promise<unknown> => {
    const ready = (await (await fetch(`${server.url}/health/ready`)).json()) as {
      shards: readonly { shard: string }[];
    };
    return ready.shards.map(({ shard }) => shard);
  };
  try {
    port.hangup();
    await logged(port, 'topology: no change');
    writeFileSync(config, yaml(member(0), member(1)));
    await logged(port, 'topology: shard (0, 1) added');
    expect(await shards()).toEqual(['(0, 0)', '(0, 1)']);
    writeFileSync(config, yaml(member(0), member(1, { weigth: 2 })));
    port.hangup();
    await logged(port, 'weigth: unknown key');
    writeFileSync(config, yaml(member(0), member(1, { name: 'other', draining: true })));
    port.hangup();
    await logged(port, 'topology: shard (0, 1): drains');
    const renamed = yaml(member(0), member(1, { name: 'other', draining: true })).replace(
      '"test"',
      '"renamed"',
    );
    writeFileSync(config, renamed);
    port.hangup();
    await logged(port, 'configuration: fw.namespace changed; restart to apply it');
    const moved = { configs: { 'primary-config': { 'jdbc-url': 'jdbc:pglite:mem:elsewhere' } } };
    writeFileSync(config, yaml(member(0), member(1, moved)));
    port.hangup();
    await logged(port, 'FW_RELOAD_REFUSED');
    expect(await shards()).toEqual(['(0, 0)', '(0, 1)']);
    // The folder of the third shard is a file until later.
    const blocked = join(folder, 'blocked');
    writeFileSync(blocked, '');
    const embedded = { configs: { 'primary-config': { 'jdbc-url': `jdbc:pglite:file:${blocked}/data` } } };
    // Without a hangup, so that the change of the file is noticed once.
    writeFileSync(config, yaml(member(0), member(1, { name: 'other', draining: true }), member(2, embedded)));
    await logged(port, 'the new shard (0, 2) is not ready');
    expect(await shards()).toEqual(['(0, 0)', '(0, 1)']);
    rmSync(blocked);
    await logged(port, 'topology: shard (0, 2) added');
    expect(await shards()).toEqual(['(0, 0)', '(0, 1)', '(0, 2)']);
  } finally {
    await server.close();
  }
  expect(port.listens).toBe(false);
}, 60_000);
