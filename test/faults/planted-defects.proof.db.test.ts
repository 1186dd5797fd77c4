import { ShardIdentifier } from 'fw-actions';
import { afterEach, describe, expect, it } from 'vitest';
import type { TransactionManager } from '../../runtime/sharding/transaction-manager.js';
import { testServer } from '../databases/vitest.js';
import { check } from './checker.js';
import { send } from './customer.js';
import { depositByHand } from './deposits-by-hand.js';
import { type FaultRunOptions, runFaults } from './fault-run.js';
import { EVERYTHING, type FaultMix, only } from './fault-schedule.js';
import { FaultWorld, type Opener, TIMEOUT_MS } from './fault-world.js';
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
import {
  EVERY_REQUEST,
  HOT_WALLETS,
  KEYED_REQUESTS,
  type RequestMix,
  WalletRequests,
} from './wallet-requests.js';

interface Planted {
  readonly name: string;
  readonly breakStore: BreakStore;
  /** The rules that the checker may report, one of them, depending on the answer to the customer. */
  readonly rules: readonly Rule[];
  /** Faults that expose the defect. */
  readonly faultMix: FaultMix;
  readonly requestMix?: RequestMix;
}

const DEFECTS: readonly Planted[] = [
  {
    name: 'a look-up in place of the fence',
    breakStore: lookUpInsteadOfFence,
    rules: ['applied-twice', 'refused-and-applied'],
    faultMix: only('late', 0.2),
    // Only the fence prevents an insert from being applied twice.
    requestMix: { ...EVERY_REQUEST, kinds: { create: 1, deposit: 0, withdraw: 0, transfer: 0 }, keyed: 0 },
  },
  {
    name: 'an acknowledgement before the reply',
    breakStore: acknowledgedBeforeReply,
    rules: ['acknowledged-and-lost'],
    faultMix: only('tear', 0.1),
  },
  {
    name: 'a key outside of the transaction',
    breakStore: keyOutsideTransaction,
    rules: ['applied-twice', 'key-row'],
    faultMix: EVERYTHING,
    requestMix: KEYED_REQUESTS,
  },
  {
    name: 'a guard left out',
    breakStore: guardLeftOut,
    rules: ['version-chain'],
    faultMix: only('delay', 0.1),
    requestMix: HOT_WALLETS,
  },
];

let world: FaultWorld;
afterEach(() => world?.close());

/** Runs once and returns the broken rules. */
async function rulesBroken(
  opener: Opener,
  { faultMix, requestMix = EVERY_REQUEST }: Planted,
  limits: Pick<FaultRunOptions, 'seed' | 'faults' | 'atMostMs'>,
): Promise<ReadonlySet<Rule>> {
  world = await FaultWorld.open(testServer(), opener);
  const { violations } = await runFaults(world, { ...limits, faultMix, requestMix });
  return new Set(violations.map(({ rule }) => rule));
}

describe.each(DEFECTS)('The checker and $name', (planted) => {
  it('catches it', async () => {
    let found: readonly Rule[] = [];
    for (let seed = 1; seed <= 5 && !planted.rules.some((rule) => found.includes(rule)); seed += 1) {
      if (seed > 1) await world.close();
      const limits = { seed, faults: 60, atMostMs: 4_000 };
      found = [...(await rulesBroken(openBroken(planted.breakStore), planted, limits))];
    }
    expect(planted.rules.filter((rule) => found.includes(rule))).not.toEqual([]);
  }, 60_000);
});

describe('The checker and a transaction runner', () => {
  const deposit = async (managerOf: (world: FaultWorld) => TransactionManager): Promise<readonly Rule[]> => {
    world = await FaultWorld.open(testServer());
    const history = new History();
    const [executor] = world.executors;
    if (executor === undefined) throw new Error('No executor');
    const { answer } = await send(
      executor,
      new WalletRequests(new SeededRandom(1), EVERY_REQUEST, 'hand').create('US'),
      history,
    );
    if (answer.kind !== 'acknowledged' || answer.result === undefined) throw new Error('No wallet');
    await depositByHand(managerOf(world), answer.result, 9, history);
    return check(history, await world.rows(), TIMEOUT_MS).map(({ rule }) => rule);
  };
  const databaseOf = ({ applications }: FaultWorld) => {
    const [first] = applications;
    if (first === undefined) throw new Error('No application');
    return first.databases;
  };

  it('catches one that ignores the answer to COMMIT', async () => {
    const broken = await deposit((world) =>
      ignoringCommitTag(databaseOf(world).database(ShardIdentifier.of(0, 0))),
    );
    expect(broken).toContain('acknowledged-and-lost');
  });

  it('reports no violation with the real one', async () => {
    const broken = await deposit((world) => databaseOf(world).transactionManager(ShardIdentifier.of(0, 0)));
    expect(broken).toEqual([]);
  });
});
