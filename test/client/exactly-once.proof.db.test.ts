import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CallError,
  type Client,
  failedWith,
  type WalletResponse,
  type WalletStreamedEvent,
  walletClose,
  walletCreate,
  walletDepositMoney,
  walletGet,
  walletHistoryItems,
  walletHistoryStream,
  walletListItems,
  walletWithdrawMoney,
} from '../../examples/wallet/generated/client/client.js';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { type ServerProcess, startServerProcess } from '../customer/server-process.js';
import { writeWalletConfig } from '../customer/wallet-config.js';
import { testServer } from '../databases/vitest.js';
import { SeededRandom } from '../faults/seeded-random.js';
import { markedAmount } from '../faults/wallet-requests.js';
import { type Places, serverPlaces } from '../http/wallet-service.js';
import { CuttingProxy } from './cutting-proxy.js';

/** More for `npm run proof:client`. */
const CALLS = Number(process.env['FW_PROOF_CLIENT_CALLS'] ?? 150);
const KILLS = Math.max(1, Math.floor(CALLS / 150));
const CALLERS = 6;
/** A call through faults takes a tenth of a second, and several times as much on a busy machine. */
const TIMEOUT_MS = 120_000 + CALLS * 300;
const SEED = Number(process.env['FW_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** One call of the run, with its request and result. */
interface Called {
  readonly kind: 'create' | 'deposit' | 'withdraw';
  /** Amount or owner that is unique to this call. */
  readonly mark: string;
  readonly walletId: string;
  readonly error: CallError | undefined;
  /** Repeats the call under its key, without the proxy. */
  readonly repeat: () => Promise<WalletResponse>;
}

describe(`The generated client through cut connections, delays and killed servers (FW_SEED=${SEED})`, () => {
  const directory = temporaryFolder();
  let places: Places;
  let config: string;
  let proxy: CuttingProxy;
  let server: ServerProcess;
  /** Through the proxy. */
  let client: Client;
  let retries = 0;
  /** Without the proxy. */
  const direct = (): Client => ({ baseUrl: server.url });

  const restart = async (): Promise<void> => {
    server = await startServerProcess(config);
    proxy.lead(server.url);
  };
  const kill = async (): Promise<void> => {
    const ended = once(server.process, 'exit');
    server.process.kill('SIGKILL');
    await ended;
    proxy.cut();
    await restart();
  };

  beforeAll(async () => {
    places = await serverPlaces(testServer());
    config = writeWalletConfig(directory, places);
    proxy = await CuttingProxy.start(SEED);
    await restart();
    const onRetry = (): void => {
      retries += 1;
    };
    client = { baseUrl: proxy.url, timeoutMs: 60_000, attemptTimeoutMs: 3_000, onRetry };
  });

  afterAll(async () => {
    server?.process.kill('SIGKILL');
    await proxy?.stop();
    await places?.drop();
  });

  const open = (country: string, ownerId: string = randomUUID()): Promise<WalletResponse> =>
    walletCreate(client, { country, ownerId, currency: 'MXN', initialBalance: '1000' });

  test('has exactly one effect per call', { timeout: TIMEOUT_MS }, async () => {
    const random = new SeededRandom(SEED + 1);
    const wallets = await Promise.all(['MX', 'US', 'MX'].map((country) => open(country)));
    const called: Called[] = [];
    let left = CALLS;
    proxy.isHurting = true;

    const callOnce = async (number: number): Promise<void> => {
      const kind = random.weighted({ create: 1, deposit: 4, withdraw: 2 });
      const wallet = random.pick(wallets);
      if (wallet === undefined) throw new Error('There is no wallet');
      const idempotencyKey = randomUUID();
      const mark = kind === 'create' ? randomUUID() : markedAmount(number);
      const country = random.pick(['MX', 'US']) ?? '';
      const call = (through: Client): Promise<WalletResponse> => {
        const params = { walletId: wallet.id, amount: mark };
        if (kind === 'deposit') return walletDepositMoney(through, params, { idempotencyKey });
        if (kind === 'withdraw') return walletWithdrawMoney(through, params, { idempotencyKey });
        return walletCreate(through, { country, ownerId: mark, currency: 'MXN' }, { idempotencyKey });
      };
      const [outcome] = await Promise.allSettled([call(client)]);
      const error = outcome.status === 'rejected' ? outcome.reason : undefined;
      if (error !== undefined && !(error instanceof CallError)) throw error;
      const walletId = outcome.status === 'fulfilled' ? outcome.value.id : wallet.id;
      called.push({ kind, mark, walletId, error, repeat: () => call(direct()) });
    };
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await callOnce(CALLS - left);
      }
    };
    const killer = async (): Promise<void> => {
      for (let kills = 1; kills <= KILLS; kills += 1) {
        await expect
          .poll(() => called.length, { timeout: TIMEOUT_MS, interval: 10 })
          .toBeGreaterThan((CALLS * kills) / (KILLS + 2));
        await kill();
      }
    };
    await Promise.all([killer(), ...Array.from({ length: CALLERS }, caller)]);
    proxy.isHurting = false;

    const { none, ...faults } = proxy.struck;
    expect(Math.min(...Object.values(faults))).toBeGreaterThan(0);
    expect(retries).toBeGreaterThan(0);
    const amounts = new Map<string, readonly string[]>();
    const effectsOf = async ({ kind, mark, walletId }: Called): Promise<number> => {
      let effects = 0;
      if (kind === 'create') {
        for await (const each of walletListItems(direct(), { ownerId: mark }))
          effects += each.id === '' ? 0 : 1;
        return effects;
      }
      const known = amounts.get(walletId) ?? (await amountsOf(walletId));
      amounts.set(walletId, known);
      return known.filter((each) => each === `${kind} ${mark}`).length;
    };
    const amountsOf = async (walletId: string): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { eventType, payload } of walletHistoryItems(direct(), { walletId, limit: 200 })) {
        const kind = eventType === 'WalletMoneyDepositedEvent' ? 'deposit' : 'withdraw';
        found.push(`${kind} ${Object(payload).amount}`);
      }
      return found;
    };
    for (const each of called) {
      const { error } = each;
      const effects = await effectsOf(each);
      if (error === undefined) expect([each.mark, effects]).toEqual([each.mark, 1]);
      else {
        expect(error).toMatchObject({ status: expect.any(Number), idempotencyKey: expect.any(String) });
        expect(effects).toBeLessThanOrEqual(error.mayHaveTakenEffect ? 1 : 0);
        await each.repeat();
        amounts.clear();
        expect([each.mark, await effectsOf(each)]).toEqual([each.mark, 1]);
      }
    }
    expect(called).toHaveLength(CALLS);
    const failed = called.filter(({ error }) => error !== undefined).length;
    expect(failed).toBeLessThan(CALLS / 10);
    if (CALLS > 150)
      console.info(
        `${CALLS} calls, ${retries} retries, ${failed} failed, ${KILLS} kills, ${JSON.stringify(faults)}`,
      );
  });

  test('edits a version once, and recognises its own edit after a cut connection', async () => {
    let wallet = await open('MX');
    proxy.isHurting = true;
    for (let edits = 0; edits < 10; edits += 1)
      wallet = await walletDepositMoney(
        client,
        { walletId: wallet.id, amount: '1' },
        { ifMatch: wallet.version },
      );
    proxy.isHurting = false;
    expect([wallet.version, wallet.balance]).toEqual([11, '1010']);
    const stale = await walletClose(client, { walletId: wallet.id }, { ifMatch: 3 }).catch((error) => error);
    expect(failedWith(stale, 'FW_PRECONDITION_FAILED') && stale.mayHaveTakenEffect).toBe(false);
    expect(await walletGet(client, { walletId: wallet.id }, { known: wallet })).toBe(wallet);
    const later = await walletDepositMoney(client, { walletId: wallet.id, amount: '1' });
    expect(await walletGet(client, { walletId: wallet.id }, { known: wallet })).toEqual(later);
  });

  test('streams every event once, in order, while connections are cut and the server is killed', async () => {
    const { id: walletId } = await open('US');
    const versions: number[] = [];
    const isLast = ({ eventType, modelVersion }: WalletStreamedEvent): boolean =>
      eventType === 'WalletMoneyDepositedEvent' && modelVersion === 13;
    const streaming = (async () => {
      for await (const event of walletHistoryStream(client, { walletId })) {
        versions.push(event.modelVersion);
        if (isLast(event)) return event;
      }
      return undefined;
    })();
    for (let deposits = 0; deposits < 12; deposits += 1) {
      await walletDepositMoney(client, { walletId, amount: '1' });
      if (deposits === 5) await kill();
      else if (deposits % 3 === 0) proxy.cut();
    }
    expect(await streaming).toMatchObject({ payload: { amount: '1', newBalance: '1012' } });
    expect(versions).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
  });
});
