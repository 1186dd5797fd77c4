import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testServer } from '../databases/vitest.js';
import { check } from './checker.js';
import { send } from './customer.js';
import { FaultWorld, TIMEOUT_MS } from './fault-world.js';
import { History, type WalletFacts, type WalletRequest } from './history.js';
import { SeededRandom } from './seeded-random.js';
import { EVERY_REQUEST, markedAmount, WalletRequests } from './wallet-requests.js';

let world: FaultWorld;
let history: History;
let wallet: WalletFacts;

beforeEach(async () => {
  world = await FaultWorld.open(testServer());
  history = new History();
  const request = new WalletRequests(new SeededRandom(1), EVERY_REQUEST, 'directed').create('US');
  const { answer } = await send(executor(0), request, history);
  if (answer.kind !== 'acknowledged' || answer.result === undefined) throw new Error('No wallet');
  wallet = answer.result;
});
afterEach(() => world?.close());

function executor(index: 0 | 1): FaultWorld['executors'][number] {
  const found = world.executors[index];
  if (found === undefined) throw new Error('No executor');
  return found;
}

function deposit(number: number, key: string | undefined): WalletRequest {
  return { kind: 'deposit', number, key, walletId: wallet.id, amount: markedAmount(number) };
}

describe('A repeat whose key another execution took first', () => {
  it('gets the first answer, although its first look-up is cut off', async () => {
    const [proxy] = world.proxies;
    if (proxy === undefined) throw new Error('No proxy');
    const second = { isHeld: false, hasLost: false };
    proxy.nextFault = (bytes) => {
      if (!second.isHeld && bytes.includes('fw_flush')) {
        second.isHeld = true;
        return { kind: 'delay', direction: 'request', delayMs: 200 };
      }
      if (!second.hasLost || !bytes.includes('fw_read_key')) return undefined;
      second.hasLost = false;
      return { kind: 'tear', direction: 'reply', share: 0, how: 'reset' };
    };
    // On a busy machine, a request may reach its deadline before its statement is sent. Each further one has its own key,
    // because the one before may have been stored after all.
    let request = deposit(100, 'race');
    let repeat = send(executor(1), request, history);
    while (!second.isHeld) {
      const ended = repeat.then(() => true);
      if (!(await Promise.race([ended, setTimeout(5, false)]))) continue;
      request = deposit(request.number + 1, `race-${request.number}`);
      repeat = send(executor(1), request, history);
    }
    const first = await send(executor(0), request, history);
    second.hasLost = true;
    expect(first.answer.kind).toBe('acknowledged');
    expect((await repeat).answer).toEqual(first.answer);
    expect(proxy.struck.get('tear')).toBe(1);
    expect(check(history, await world.rows(), TIMEOUT_MS)).toEqual([]);
  });
});
