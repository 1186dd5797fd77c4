/** What access control costs the hot path: deposits over HTTP with API keys and the owners' rule, and without both. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { withClient } from './database.js';
import { configurationFile, measureServers } from './http.js';
import { builtFile } from './product.js';
import { decimals } from './report.js';
import { ServerProcess } from './server-process.js';
import { median } from './statistics.js';

const OPEN = fileURLToPath(new URL('../http/open-wallet.js', import.meta.url));
const FW_GEN = fileURLToPath(new URL('../../bin/fw-gen.js', import.meta.url));
const OWNER = randomUUID();

/** Two servers in pairs of slices. */
const servers = [
  { name: 'open', schema: 'framework', start: startOpen },
  { name: 'closed', schema: 'framework', start: startClosed },
];

const loads = [{ name: 'access-32', label: 'HTTP, 32 connections', concurrency: 32 }];

export function measureAccess(server, options) {
  return measureServers(server, options, { servers, loads });
}

async function startOpen(connection, folder) {
  const file = configurationFile(folder, 'open', connection);
  return { service: await ServerProcess.start(OPEN, argumentsOf(file)), headers: {} };
}

async function startClosed(connection, folder) {
  const access = ['  access:', '    default: deny', '    api-keys: true'].join('\n');
  const file = configurationFile(folder, 'closed', connection, access);
  const main = fileURLToPath(builtFile('examples/wallet/main.js'));
  const service = await ServerProcess.start(main, argumentsOf(file));
  await withClient(connection, (client) => client.query('update wallets set owner_id = $1', [OWNER]));
  const create = ['keys', 'create', '--config', file, '--principal', 'bench'];
  const claims = ['--claims', JSON.stringify({ owner: OWNER })];
  const key = execFileSync(process.execPath, [FW_GEN, ...create, ...claims], { encoding: 'utf8' }).trim();
  return { service, headers: { authorization: `Bearer ${key}` } };
}

function argumentsOf(file) {
  return ['--config', file, '--port', '0', '--host', '127.0.0.1'];
}

/** CPU time, which a busy machine changes least, and rates. Ratios are taken within a round. */
export function accessTable({ workloads: [{ rounds }] }) {
  const of = (variant, key) => rounds.filter((each) => each.variant === variant).map((each) => each[key]);
  const ratio = (key) => median(of('closed', key).map((value, round) => value / of('open', key)[round]));
  const row = (label, key) => [
    label,
    decimals(median(of('open', key))),
    decimals(median(of('closed', key))),
    ratio(key).toFixed(3),
  ];
  return {
    name: 'access',
    title: 'Deposits over HTTP, with API keys and a rule against neither',
    table: {
      heading: ['', 'without', 'with', 'ratio'],
      rows: [
        row('service, CPU us per deposit', 'clientUs'),
        row('database, CPU us per deposit', 'serverUs'),
        row('deposits/s', 'perSecond'),
      ],
    },
  };
}
