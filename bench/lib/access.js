/**
 * The cost of access control on the hot path: deposits over HTTP with a rule and each kind of caller, and without both.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { withClient } from './database.js';
import { configurationFile, measureServers } from './http.js';
import { builtFile } from './product.js';
import { decimals } from './report.js';
import { ServerProcess } from './server-process.js';
import { median } from './statistics.js';

const OPEN = fileURLToPath(new URL('../http/open-wallet.js', import.meta.url));
const MAIN = fileURLToPath(builtFile('examples/wallet/main.js'));
const FW_GEN = fileURLToPath(new URL('../../bin/fw-gen.js', import.meta.url));
const OWNER = randomUUID();
const ISSUER = 'https://issuer.example/';
const SHARED = ['requests-per-second: 1000000', 'shared-limits: true'];

const loads = [{ name: 'access-32', label: 'HTTP, 32 connections', concurrency: 32 }];

export async function measureAccess(server, options) {
  const issuer = await startIssuer();
  try {
    return await measureServers(server, options, { servers: serversOf(issuer), loads });
  } finally {
    issuer.close();
  }
}

/** Variant names become database names, which may contain only letters. */
function serversOf(issuer) {
  const variants = [
    ['open', startOpen],
    ['API key', startClosed([], apiKey)],
    ['API key and shared limits', startClosed(SHARED, apiKey)],
    ...['ES256', 'RS256'].map((kind) => [`JWT ${kind}`, startClosed(tokensOf(issuer), issuer.token(kind))]),
  ];
  return variants.map(([name, start]) => ({ name, schema: 'framework', start }));
}

/** An issuer of tokens with a key of each kind. */
async function startIssuer() {
  const keys = new Map();
  for (const alg of ['ES256', 'RS256']) {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    keys.set(alg, { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: alg, alg } });
  }
  const text = JSON.stringify({ keys: [...keys.values()].map(({ jwk }) => jwk) });
  const server = createServer((_, response) => response.end(text)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const token = (alg) => () =>
    new SignJWT({ owner: OWNER, scope: 'openid profile wallets:write', azp: 'bench' })
      .setProtectedHeader({ alg, kid: alg, typ: 'JWT' })
      .setIssuer(ISSUER)
      .setAudience('wallet')
      .setSubject('bench')
      .setJti(randomUUID())
      .setIssuedAt()
      .setExpirationTime('2h')
      .sign(keys.get(alg).privateKey);
  return { url: `http://127.0.0.1:${port}/`, token, close: () => server.close() };
}

function tokensOf({ url }) {
  return [`jwt: { issuer: "${ISSUER}", audience: wallet, jwks-url: "${url}", claims: owner }`];
}

async function apiKey(file) {
  const create = ['keys', 'create', '--config', file, '--principal', 'bench'];
  const claims = ['--claims', JSON.stringify({ owner: OWNER })];
  return execFileSync(process.execPath, [FW_GEN, ...create, ...claims], { encoding: 'utf8' }).trim();
}

async function startOpen(connection, folder) {
  const file = configurationFile(folder, 'open', connection);
  return { service: await ServerProcess.start(OPEN, argumentsOf(file)), headers: {} };
}

/** Tokens and API keys are both taken, as in the secured wallet. */
function startClosed(lines, credential) {
  return async (connection, folder) => {
    const access = ['access:', '  default: deny', '  api-keys: true', ...lines.map((each) => `  ${each}`)];
    const file = configurationFile(
      folder,
      connection.database,
      connection,
      access.map((each) => `  ${each}`).join('\n'),
    );
    const service = await ServerProcess.start(MAIN, argumentsOf(file));
    await withClient(connection, (client) => client.query('update wallets set owner_id = $1', [OWNER]));
    return { service, headers: { authorization: `Bearer ${await credential(file)}` } };
  };
}

function argumentsOf(file) {
  return ['--config', file, '--port', '0', '--host', '127.0.0.1'];
}

/** Compares CPU time, which a busy machine affects least, and rates. Ratios are computed within a round. */
export function accessTable({ workloads: [{ rounds }] }) {
  const of = (variant, key) => rounds.filter((each) => each.variant === variant).map((each) => each[key]);
  const open = of('open', 'clientUs');
  const row = (variant) => [
    variant,
    ...['clientUs', 'serverUs', 'perSecond'].map((key) => decimals(median(of(variant, key)))),
    median(of(variant, 'clientUs').map((value, round) => value / open[round])).toFixed(3),
  ];
  return {
    name: 'access',
    title: 'Deposits over HTTP by kind of caller',
    table: {
      heading: [
        ...['', 'service, CPU us per deposit', 'database, CPU us per deposit'],
        ...['deposits/s', 'CPU of the service against open'],
      ],
      rows: [...new Set(rounds.map(({ variant }) => variant))].map(row),
    },
  };
}
