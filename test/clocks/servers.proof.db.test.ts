import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { application } from '../../examples/wallet/generated/application.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import type { MemberConfig, ShardingTopology } from '../../runtime/config/types.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import { createWallet, get, post } from '../customer/http-client.js';
import { type ServerProcess, startServerProcess } from '../customer/server-process.js';
import { describeOn } from '../databases/vitest.js';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** `npm run proof:clocks` starts more transfers, and a server thirty hours ahead. */
const TRANSFERS = Number(process.env['FW_PROOF_CLOCKS'] ?? 10);
const SKEWS: readonly (readonly [string, number])[] = [
  ['two hours ahead', 2 * HOUR_MS],
  ['ten minutes behind', -10 * MINUTE_MS],
  ...(process.env['FW_PROOF_CLOCKS'] === undefined ? [] : [['thirty hours ahead', 30 * HOUR_MS] as const]),
];
const SKEW = pathToFileURL(fileURLToPath(new URL('skew.mjs', import.meta.url))).href;

const servers: ServerProcess[] = [];
const folder = mkdtempSync(join(tmpdir(), 'fw-clocks-'));

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  rmSync(join(folder, 'fw.config.yaml'), { force: true });
});

async function start(config: string, skewMs: number): Promise<ServerProcess> {
  const env = { NODE_OPTIONS: `--import=${SKEW}`, FW_TEST_SKEW_MS: String(skewMs) };
  const server = await startServerProcess(config, env);
  servers.push(server);
  return server;
}

function writeConfig({ groups }: ShardingTopology): string {
  const file = join(folder, 'fw.config.yaml');
  const lines = groups.flatMap(({ group, members }) => members.flatMap((member) => shard(group, member)));
  const head = [
    'fw:',
    '  namespace: test.clocks',
    '  execution: { timeout-ms: 20000, key-retention-ms: 300000 }',
  ];
  const sharding = ['  sharding:', '    default-shard: { group: 0, member: 0 }', '    groups:', ...lines];
  writeFileSync(file, `${[...head, ...sharding].join('\n')}\n`);
  return file;
}

function shard(group: number, { primary: { url, username, password } }: MemberConfig): readonly string[] {
  if (url.kind !== 'postgresql') throw new Error('Two servers need PostgreSQL');
  return [
    `      - group: ${group}`,
    `        name: group-${group}`,
    '        members:',
    '          - member: 0',
    `            name: member-${group}`,
    '            configs:',
    '              primary-config:',
    `                jdbc-url: jdbc:postgresql://${url.host}:${url.port}/${url.database}?sslmode=disable`,
    `                username: ${username}`,
    `                password: ${JSON.stringify(password?.reveal())}`,
  ];
}

describeOn('postgresql', 'A server whose clock is', (harness) => {
  test.each(SKEWS)(
    '%s completes transfers of another server, and applies a repeat once',
    async (_, skewMs) => {
      const topology = await harness.makeTopology({
        shards: [GLOBAL_SHARD, MEXICO_SHARD],
        migrations: application.migrations,
      });
      const config = writeConfig(topology);
      const skewed = await start(config, skewMs);
      // It holds the leases of both shards, because it is the first.
      const right = await start(config, 0);
      const [source, destination] = [
        await createWallet(right.url, 'US', randomUUID()),
        await createWallet(right.url, 'MX', randomUUID(), '0'),
      ];
      for (let count = 0; count < TRANSFERS; count += 1) {
        const params = { sourceId: source.id, destinationId: destination.id, amount: '1' };
        expect((await post(`${right.url}/transfers`, params)).status).toBe(202);
      }
      await until(async () => {
        const balances = await Promise.all(
          [source, destination].map(async ({ id }) =>
            Number((await get(`${right.url}/wallets/${id}`)).body.balance),
          ),
        );
        return balances[0] === 100 - TRANSFERS && balances[1] === TRANSFERS;
      });
      for (const server of [skewed, right, skewed]) {
        const deposit = `${server.url}/wallets/${destination.id}/deposit`;
        expect((await post(deposit, { amount: '5' }, { 'idempotency-key': 'once' })).status).toBe(200);
      }
      const { body } = await get(`${right.url}/wallets/${destination.id}`);
      expect(Number(body.balance)).toBe(TRANSFERS + 5);
      expect(skewed.output()).toMatch(/The clock of this process is \d+ ms (ahead of|behind) that of shard/);
      expect(right.output()).not.toContain('The clock of this process');
    },
  );
});
