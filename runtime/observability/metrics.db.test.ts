import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { fixedPrincipal } from '../access/authenticator.js';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import { serveApplication } from '../http/process/serve-application.js';
import { emptyApplication } from '../http/test-support/empty-application.js';
import { FakeProcess } from '../http/test-support/fake-process.js';
import { oneShardYaml } from '../http/test-support/one-shard-yaml.js';

const folder = temporaryFolder();

describeOn('postgresql', 'The metrics of a server', (harness) => {
  it('name every shard, contain no secret, and can be switched off', async () => {
    const topology = await harness.makeTopology();
    const url = topology.groups[0]?.members[0]?.primary.url;
    const source = topology.groups[0]?.members[0]?.primary;
    if (url?.kind !== 'postgresql' || source === undefined) throw new Error('A server');
    const config = join(folder, 'fw.config.yaml');
    writeFileSync(config, oneShardYaml(topology, { poolSize: 7 }));
    const argv = ['--config', config, '--port', '0'];
    const options = { authenticator: fixedPrincipal('tester'), collaborators: {}, env: {}, argv };
    const server = await serveApplication(emptyApplication, options, new FakeProcess());
    try {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      expect(text).toContain('fw_shard_connections_maximum{shard="(0, 0)",name="only"} 7');
      expect(text).toContain('fw_shard_circuit_open{shard="(0, 0)",name="only"} 0');
      expect(text).toContain('fw_scheduled_actions_due{shard="(0, 0)"} 0');
      for (const secret of [source.password?.reveal(), url.database, `${url.host}:${url.port}`])
        expect(text).not.toContain(secret);
    } finally {
      await server.close();
    }
    const silent = await serveApplication(
      emptyApplication,
      { ...options, metrics: false },
      new FakeProcess(),
    );
    onTestFinished(() => silent.close());
    expect((await fetch(`${silent.url}/metrics`)).status).toBe(404);
  });
});
