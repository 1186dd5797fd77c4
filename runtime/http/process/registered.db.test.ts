import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { expect, it } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import { fixedPrincipal } from '../../access/authenticator.js';
import { temporaryFolder } from '../../config/test-support/temporary-folder.js';
import { openDatabases } from '../../databases.js';
import { registeredProcesses } from '../../sharding/process-register.js';
import { emptyApplication } from '../test-support/empty-application.js';
import { FakeProcess } from '../test-support/fake-process.js';
import { oneShardYaml } from '../test-support/one-shard-yaml.js';
import { serveApplication } from './serve-application.js';

const folder = temporaryFolder();

describeOn('postgresql', 'A process that serves', (harness) => {
  it('publishes the topology that it runs, and updates it after a reload, until it has drained', async () => {
    const topology = await harness.makeTopology();
    const config = join(folder, 'fw.config.yaml');
    writeFileSync(config, oneShardYaml(topology, { poolSize: 5 }));
    const port = new FakeProcess();
    const argv = ['--config', config, '--port', '0'];
    const databases = harness.keep(openDatabases(topology));
    const known = () => registeredProcesses(databases.database(databases.defaultShard));
    const delivering = async () => {
      const text = 'SELECT id FROM eventlog.delivery_processes';
      return (await databases.database(databases.defaultShard).query({ text, values: [] })).rows;
    };
    let whileClosing: unknown;
    const watch = async (fastify: FastifyInstance): Promise<void> => {
      fastify.addHook('onClose', async () => {
        whileClosing = { processes: (await known()).length, delivering: (await delivering()).length };
      });
    };
    const base = { authenticator: fixedPrincipal('tester'), collaborators: {}, env: {}, argv };
    const options = { ...base, plugins: [watch] };
    const server = await serveApplication(emptyApplication, options, port);
    await expect.poll(known, { timeout: 60_000 }).toHaveLength(1);
    const [before] = await known();
    expect(before?.name).toBe(`${hostname()}:${process.pid}`);
    writeFileSync(config, oneShardYaml(topology, { poolSize: 6 }));
    port.hangup();
    await expect
      .poll(async () => (await known())[0]?.topology, { timeout: 60_000 })
      .not.toBe(before?.topology);
    await expect.poll(delivering, { timeout: 60_000 }).toHaveLength(1);
    await server.close();
    expect(await known()).toEqual([]);
    // What plugins close may be needed by handlers.
    expect(whileClosing).toEqual({ processes: 1, delivering: 0 });
  });
});
