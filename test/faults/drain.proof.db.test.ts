import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WalletBody } from '../customer/http-client.js';
import type { ServerProcess } from '../customer/server-process.js';
import { HttpWorld, openWallet, send } from './http-world.js';

/** Time until a request has certainly arrived, in milliseconds. */
const ARRIVED_MS = 1_000;
const SOON_MS = 30_000;

let world: HttpWorld;
let server: ServerProcess;
let mexican: WalletBody;
let other: WalletBody;

/** The status of a deposit, or `refused` without an answer. */
const deposit = ({ id }: WalletBody): Promise<number | 'refused'> =>
  send(`${server.url}/wallets/${id}/deposit`, { amount: '1' }).then(
    ({ status }) => status,
    () => 'refused',
  );

/** The exit code of the server. */
async function ended(): Promise<number | null> {
  const { exitCode } = server.process;
  const [code] = exitCode === null ? ((await once(server.process, 'exit')) as [number | null]) : [exitCode];
  return code;
}

beforeAll(async () => {
  world = await HttpWorld.start();
}, 60_000);
beforeEach(async () => {
  server = await world.startProcess();
  mexican = await openWallet(server.url, 'MX');
  other = await openWallet(server.url, 'US');
});
afterEach(() => {
  world.servers.mexico.resume();
  server.process.kill('SIGKILL');
});
afterAll(() => world?.destroy());

describe('A server that gets a signal', () => {
  it('with a hung database ends within ten seconds and answers requests in flight', async () => {
    world.servers.mexico.pause();
    const stuck = Promise.all(Array.from({ length: 10 }, () => deposit(mexican)));
    await delay(ARRIVED_MS);
    expect(await deposit(other)).toBe(200);
    const exit = ended();
    server.process.kill('SIGTERM');
    for (const answer of await stuck) expect([503, 504]).toContain(answer);
    expect(await exit).toBe(0);
  }, 20_000);

  it('is not ready from then on, and takes no new connection', async () => {
    world.servers.mexico.pause();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await readiness(agent)).toBe(200);
    const stuck = deposit(mexican);
    await delay(ARRIVED_MS);
    const exit = ended();
    server.process.kill('SIGTERM');
    for (const each of [agent, new Agent()])
      await expect.poll(() => readiness(each).catch(() => 'refused'), { timeout: SOON_MS }).not.toBe(200);
    await stuck;
    await exit;
    agent.destroy();
  }, 20_000);
});

function readiness(agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${server.url}/health/ready`, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    asked.once('error', reject).end();
  });
}
