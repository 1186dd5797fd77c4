import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WalletBody } from '../customer/http-client.js';
import type { ServerProcess } from '../customer/server-process.js';
import { HttpWorld, newWallet, openWallet, send } from './http-world.js';
import { kill, makeReadOnly, takeAllConnections } from './server-faults.js';
import { DATABASE } from './server-world.js';
import { connectTo } from './stored-rows.js';

/** A fraction of a second is usual. A busy machine takes longer; a hanging request never ends. */
const ANSWERED_WITHIN_MS = 30_000;

let world: HttpWorld;
let server: ServerProcess;
let mexican: WalletBody;
let other: WalletBody;

const deposit = ({ id }: WalletBody, key?: string): ReturnType<typeof send> =>
  send(`${server.url}/wallets/${id}/deposit`, { amount: '1' }, key);

/** On a busy machine, the deadline of a request may pass before its shard has answered. */
async function inTime(request: () => ReturnType<typeof send>): ReturnType<typeof send> {
  for (;;) {
    const answer = await request();
    if (answer.status !== 504) return answer;
  }
}

beforeAll(async () => {
  world = await HttpWorld.start();
  server = await world.startProcess();
  mexican = await openWallet(server.url, 'MX');
  other = await openWallet(server.url, 'US');
}, 60_000);
afterAll(() => world?.destroy());

describe('While a shard is', () => {
  it.each([
    ['down', kill],
    ['read-only', makeReadOnly],
    ['out of connections', takeAllConnections],
  ])('%s, it is answered for with 503 and Retry-After, and the other one with 200', async (_, hurt) => {
    const before = await world.eventsOf(mexican);
    const heal = await hurt(world.servers.mexico);
    try {
      for (let turn = 0; turn < 3; turn += 1) {
        const key = `hurt-${turn}-${performance.now()}`;
        const [bad, created, good] = await Promise.all([
          inTime(() => deposit(mexican)),
          inTime(() => send(`${server.url}/wallets`, newWallet('MX'), key)),
          deposit(other),
        ]);
        for (const { status, retryAfter, tookMs } of [bad, created]) {
          expect([status, Number(retryAfter) > 0]).toEqual([503, true]);
          expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
        }
        expect(good.status).toBe(200);
      }
    } finally {
      await heal();
    }
    await expect
      .poll(async () => (await deposit(mexican)).status, { timeout: 30_000, interval: 20 })
      .toBe(200);
    expect(await world.eventsOf(mexican)).toBe(before + 1);
  });
});

describe('While another client locks a row', () => {
  it('requests for its wallet get 409 or 503, or 504 if the outcome is unknown, and others get 200', async () => {
    const neighbour = await openWallet(server.url, 'MX');
    const before = await world.eventsOf(mexican);
    let unknown = 0;
    const client = await connectTo(world.servers.mexico, DATABASE);
    await client.query('begin');
    await client.query('select from wallets where id = $1 for update', [mexican.id]);
    try {
      const stuck = Promise.all(Array.from({ length: 20 }, () => deposit(mexican)));
      const neighbours = await Promise.all(Array.from({ length: 20 }, () => deposit(neighbour)));
      expect(new Set(neighbours.map(({ status }) => status))).toEqual(new Set([200]));
      for (const { status, body, tookMs } of await stuck) {
        // On a busy machine, the deadline may pass while an attempt is in flight.
        if (status === 504) {
          expect(body.code).toBe('FW_COMMIT_OUTCOME_UNKNOWN');
          unknown += 1;
        } else expect([409, 503]).toContain(status);
        expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
      }
    } finally {
      await client.query('rollback');
      await client.end();
    }
    expect((await deposit(mexican)).status).toBe(200);
    const applied = (await world.eventsOf(mexican)) - before;
    expect(applied).toBeGreaterThanOrEqual(1);
    expect(applied).toBeLessThanOrEqual(1 + unknown);
  });
});
