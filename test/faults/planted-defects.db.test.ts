import { ShardIdentifier } from 'fw-actions';
import { afterEach, describe, expect, it } from 'vitest';
import type { TransactionManager } from '../../runtime/sharding/transaction-manager.js';
import { testServer } from '../../runtime/testing/databases-vitest.js';
import { check } from './checker.js';
import { send } from './customer.js';
import { depositByHand } from './deposits-by-hand.js';
import { type FaultRunOptions, runFaults } from './fault-run.js';
import { EVERYTHING, type FaultMix, only } from './fault-schedule.js';
import { FaultWorld, type Opener, openWallet, TIMEOUT_MS } from './fault-world.js';
import { History } from './history.js';
import {
  acknowledgedBeforeReply,
  type BreakStore,
  guardLeftOut,
  ignoringCommitTag,
  keyOutsideTransaction,
  lookUpInsteadOfFence,
  openBroken,
} from './planted-defects.js';
import { SeededRandom } from './seeded-random.js';
import type { Rule } from './violations.js';
import { EVERY_REQUEST, type RequestMix, WalletRequests } from './wallet-requests.js';

interface Planted {
  readonly name: string;
  readonly breakStore: BreakStore;
  /** What the checker must say, among other things. */
  readonly rule: Rule;
  /** Faults under which it shows. */
  readonly faultMix: FaultMix;
  readonly requestMix?: RequestMix;
}

const KEYED: RequestMix = {
  ...EVERY_REQUEST,
  kinds: { create: 30, deposit: 60, withdraw: 10, transfer: 0 },
  keyed: 1,
};
const HOT: RequestMix = {
  ...EVERY_REQUEST,
  kinds: { create: 0, deposit: 80, withdraw: 20, transfer: 0 },
  hot: 1,
};

const DEFECTS: readonly Planted[] = [
  {
    name: 'a look-up in place of the fence',
    breakStore: lookUpInsteadOfFence,
    rule: 'applied-twice',
    faultMix: only('late', 0.2),
  },
  {
    name: 'an acknowledgement before the reply',
    breakStore: acknowledgedBeforeReply,
    rule: 'acknowledged-and-lost',
    faultMix: only('tear', 0.1),
  },
  {
    name: 'a key outside of the transaction',
    breakStore: keyOutsideTransaction,
    rule: 'applied-twice',
    faultMix: EVERYTHING,
    requestMix: KEYED,
  },
  {
    name: 'a guard left out',
    breakStore: guardLeftOut,
    rule: 'version-chain',
    faultMix: only('delay', 0.1),
    requestMix: HOT,
  },
];

let world: FaultWorld;
afterEach(() => world?.close());

/** Runs with several seeds until something is found; the rules that were broken. */
async function rulesBroken(
  opener: Opener,
  { faultMix, requestMix = EVERY_REQUEST }: Planted,
  runs: number,
): Promise<ReadonlySet<Rule>> {
  const options: Omit<FaultRunOptions, 'seed'> = { faults: 60, atMostMs: 4_000, faultMix, requestMix };
  const broken = new Set<Rule>();
  for (let seed = 1; seed <= runs && broken.size === 0; seed += 1) {
    world = await FaultWorld.open(testServer(), opener);
    const { violations } = await runFaults(world, { ...options, seed });
    for (const { rule } of violations) broken.add(rule);
    if (seed < runs && broken.size === 0) await world.close();
  }
  return broken;
}

describe.each(DEFECTS)('The checker and $name', (planted) => {
  it('catches it', async () => {
    expect([...(await rulesBroken(openBroken(planted.breakStore), planted, 5))]).toContain(planted.rule);
  }, 60_000);

  it('finds nothing under the same faults without it', async () => {
    expect(await rulesBroken(openWallet, planted, 1)).toEqual(new Set());
  }, 30_000);
});

describe('The checker and a transaction runner', () => {
  const deposit = async (managerOf: (world: FaultWorld) => TransactionManager): Promise<readonly Rule[]> => {
    world = await FaultWorld.open(testServer());
    const history = new History();
    const [executor] = world.executors;
    if (executor === undefined) throw new Error('No executor');
    const { told } = await send(
      executor,
      new WalletRequests(new SeededRandom(1), EVERY_REQUEST, 'hand').create('US'),
      history,
    );
    if (told.kind !== 'acknowledged' || told.result === undefined) throw new Error('No wallet');
    await depositByHand(managerOf(world), told.result, 9, history);
    return check(history, await world.rows(), TIMEOUT_MS).map(({ rule }) => rule);
  };
  const databaseOf = ({ applications }: FaultWorld) => {
    const [first] = applications;
    if (first === undefined) throw new Error('No application');
    return first.databases;
  };

  it('catches one that ignores how COMMIT was answered', async () => {
    const broken = await deposit((world) =>
      ignoringCommitTag(databaseOf(world).database(ShardIdentifier.of(0, 0))),
    );
    expect(broken).toContain('acknowledged-and-lost');
  });

  it('finds nothing with the real one', async () => {
    const broken = await deposit((world) => databaseOf(world).transactionManager(ShardIdentifier.of(0, 0)));
    expect(broken).toEqual([]);
  });
});
