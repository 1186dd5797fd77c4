import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RequestHead } from '../access/authenticator.js';
import { useTime } from '../concurrency/time.js';
import { UnauthenticatedError } from '../errors.js';
import type { ShardHealth } from './health.js';
import type { HttpServer } from './http-server.js';
import { sendRaw } from './test-support/raw-client.js';
import { walletOpenApi } from './test-support/wallet-open-api.js';
import { WalletApplication } from './test-support/wallet-server.js';

let server: HttpServer;
let base: string;
let shards: ShardHealth[];
let checks: number;

const up = (name: string): ShardHealth => ({ shard: '(0, 0)', name, status: 'up' });
const down = (name: string): ShardHealth => ({ shard: '(1, 0)', name, status: 'down' });

beforeEach(async () => {
  shards = [up('global-1'), up('mexico-1')];
  checks = 0;
  const health = async (): Promise<ShardHealth[]> => {
    checks += 1;
    return shards;
  };
  const isOperator = async ({ headers }: RequestHead): Promise<boolean> => {
    if (headers.authorization === undefined) throw new UnauthenticatedError('No');
    return headers.authorization === 'Bearer operator';
  };
  const check = Object.assign(health, { isOperator });
  server = new WalletApplication().server({ openApi: walletOpenApi, health: check });
  base = (await server.listen({ host: '127.0.0.1', port: 0 })).url;
});
afterEach(() => server.close(0));

it('is live', async () => {
  const response = await fetch(`${base}/health/live`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'live' }]);
});

it.each([
  ['ready', 200, [up('a'), up('b')]],
  ['degraded', 200, [up('a'), down('b')]],
  ['unavailable', 503, [down('a'), down('b')]],
])('is %s (%i)', async (status, code, found) => {
  shards = found;
  const response = await fetch(`${base}/health/ready`);
  expect([response.status, await response.json()]).toEqual([code, { status, shards: found }]);
});

it.each([
  ['a stranger', {}, false],
  ['a caller', { authorization: 'Bearer caller' }, false],
  ['an operator', { authorization: 'Bearer operator' }, true],
])('shows %s why a shard is down: %o %s', async (_, headers, sees) => {
  const reason = 'connect ECONNREFUSED postgresql://wallet@10.0.0.7:5432';
  shards = [up('a'), { ...down('b'), code: 'FW_SHARD_UNAVAILABLE', reason }];
  const body = await (await fetch(`${base}/health/ready`, { headers })).text();
  expect(body).toContain('"code":"FW_SHARD_UNAVAILABLE"');
  expect(body.includes('10.0.0.7')).toBe(sees);
});

it('asks the shards once for many callers', async () => {
  const restore = useTime({ nowMs: () => 1_000_000 });
  await Promise.all(Array.from({ length: 50 }, () => fetch(`${base}/health/ready`)));
  restore();
  expect(checks).toBe(1);
});

it('keeps the docs for 16 hosts, and shows others the examples for localhost', async () => {
  for (let number = 1; number <= 17; number += 1) {
    const head = `GET /docs HTTP/1.1\r\nHost: h${number}\r\nConnection: close\r\n\r\n`;
    const { text } = await sendRaw(Number(new URL(base).port), head);
    expect(text).toContain('text/html; charset=utf-8');
    expect(text).toContain(`http://${number < 17 ? `h${number}` : 'localhost'}/wallets`);
  }
});
