import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WalletBody } from '../customer/http-client.js';
import type { ServerProcess } from '../customer/server-process.js';
import type { Fault } from './fault.js';
import { HttpWorld, newWallet, openWallet, send } from './http-world.js';

let world: HttpWorld;
let first: ServerProcess;
let second: ServerProcess;
let wallet: WalletBody;
let keys = 0;

const nextKey = (): string => {
  keys += 1;
  return `http-${keys}`;
};
const deposits = (server: ServerProcess, { id } = wallet): string => `${server.url}/wallets/${id}/deposit`;

/** Applies the fault once, to the next statement that applies a plan. */
function strikeCommit(fault: Fault): void {
  let left: Fault | undefined = fault;
  world.proxy.nextFault = (request) => {
    const struck = request.includes('fw_flush') ? left : undefined;
    if (struck !== undefined) left = undefined;
    return struck;
  };
}

/** From the next plan on, no byte passes to or from the server of Mexico, except those that `fault` lets through. */
function isolateFromCommitOn(fault: Fault): void {
  let isolated = false;
  world.proxy.nextFault = (request) => {
    if (isolated) return { kind: 'stall', direction: 'request', share: 0 };
    isolated = request.includes('fw_flush');
    return isolated ? fault : undefined;
  };
}

beforeAll(async () => {
  world = await HttpWorld.start();
  [first, second] = await Promise.all([world.startProcess(), world.startProcess()]);
  wallet = await openWallet(first.url, 'MX');
  await send(deposits(second), { amount: '1' });
}, 60_000);
afterEach(() => {
  world.proxy.nextFault = () => undefined;
});
afterAll(() => world?.destroy());

describe('A request that is sent again under its key', () => {
  it('fifty times concurrently, on two processes, is applied once', async () => {
    const key = nextKey();
    const before = await world.eventsOf(wallet);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, turn) =>
        send(deposits(turn % 2 === 0 ? first : second), { amount: '1' }, key),
      ),
    );
    const good = answers.filter(({ status }) => status === 200);
    expect(new Set(answers.map(({ status }) => status).filter((status) => status !== 409))).toEqual(
      new Set([200]),
    );
    expect(new Set(good.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(good.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await world.eventsOf(wallet)).toBe(before + 1);
  });

  it('with another body is refused, even one for another shard', async () => {
    const key = nextKey();
    expect((await send(`${first.url}/wallets`, newWallet('MX'), key)).status).toBe(201);
    expect((await send(`${second.url}/wallets`, newWallet('US'), key)).status).toBe(422);
    expect((await send(`${second.url}/wallets`, newWallet('MX'), key)).replayed).toBe(true);
  });

  it.each([
    ['a deposit', (url: string) => `${url}/wallets/${wallet.id}/deposit`, { amount: '3' }],
    [
      'a creation on a shard that is not the home of its key',
      (url: string) => `${url}/wallets`,
      newWallet('MX'),
    ],
  ])('gets the first answer after its process was killed behind the commit: %s', async (_, path, body) => {
    const key = nextKey();
    const doomed = await world.startProcess();
    strikeCommit({ kind: 'stall', direction: 'reply', share: 0 });
    const lost = send(path(doomed.url), body, key).then(
      () => 'answered',
      () => 'lost',
    );
    await expect.poll(() => world.proxy.struck.get('stall') ?? 0, { interval: 5 }).toBeGreaterThan(0);
    const exit = once(doomed.process, 'exit');
    doomed.process.kill('SIGKILL');
    await exit;
    expect(await lost).toBe('lost');
    world.proxy.struck.clear();
    const answer = await send(path(first.url), body, key);
    expect(answer.replayed).toBe(true);
    expect((await send(path(second.url), body, key)).body).toEqual(answer.body);
  });
});

describe('A deposit whose commit is not answered', () => {
  it('gets its own answer when only the reply was lost', async () => {
    const before = await world.eventsOf(wallet);
    strikeCommit({ kind: 'lost-reply' });
    const { status, replayed } = await send(deposits(first), { amount: '5' }, nextKey());
    expect([status, replayed]).toEqual([200, false]);
    expect(await world.eventsOf(wallet)).toBe(before + 1);
  });

  it('is applied once when its request arrives after its connection was lost', async () => {
    const before = await world.eventsOf(wallet);
    strikeCommit({ kind: 'late', delayMs: 100 });
    expect((await send(deposits(first), { amount: '5' })).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await world.eventsOf(wallet)).toBe(before + 1);
  });

  it.each([
    ['committed', 'reply', true],
    ['not committed', 'request', false],
  ] as const)(
    'gets 504 with the action id, and the same key returns the outcome later: %s',
    async (_, direction, committed) => {
      const key = nextKey();
      const before = await world.eventsOf(wallet);
      isolateFromCommitOn({ kind: 'stall', direction, share: 0 });
      const { status, body, tookMs } = await send(deposits(first), { amount: '7' }, key);
      expect([status, body.code]).toEqual([504, 'FW_COMMIT_OUTCOME_UNKNOWN']);
      expect(body.actionId).toMatch(/^[0-9a-f-]{36}$/);
      expect(tookMs).toBeLessThan(30_000);
      expect(await world.eventsOf(wallet)).toBe(committed ? before + 1 : before);

      world.proxy.nextFault = () => undefined;
      await expect
        .poll(async () => (await send(deposits(first), { amount: '7' }, key)).status, { timeout: 30_000 })
        .toBe(200);
      const again = await send(deposits(second), { amount: '7' }, key);
      expect([again.status, again.replayed]).toEqual([200, true]);
      expect(await world.eventsOf(wallet)).toBe(before + 1);
    },
  );
});
