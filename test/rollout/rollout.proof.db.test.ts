import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openDatabases } from '../../runtime/databases.js';
import { EventOperations } from '../../runtime/events/event-operations.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import type { DatabaseHarness } from '../databases/databases.js';
import { describeOn } from '../databases/vitest.js';
import { SeededRandom } from '../faults/seeded-random.js';
import { buildProgram, Fleet, type Program } from './fleet.js';
import { type Release, rolloutMigrations, SHARDS } from './releases.js';
import { on, onAll, openWallet, Wallets } from './wallets.js';

/** `npm run proof:rollout` sets it to ten minutes. Default: one rollout. */
const RUN_MS = Number(process.env['FW_PROOF_ROLLOUT_MS'] ?? 0);
const SEED = Number(process.env['FW_SEED'] ?? 1 + Math.floor(Math.random() * 1_000_000));
const PROCESSES = RUN_MS > 0 ? 3 : 2;
/** Requests that are answered between two changes of the fleet. */
const STEP = RUN_MS > 0 ? 100 : 25;
/** Processes start in a minute or more on a busy machine. */
const PATIENCE_MS = 300_000;
const TEST_MS = 1_200_000;

let program: Program;
let fleet: Fleet | undefined;

beforeAll(async () => {
  program = await buildProgram();
});
afterEach(() => fleet?.endAll());
afterAll(() => program.remove());

interface World {
  readonly fleet: Fleet;
  readonly wallets: Wallets;
  readonly databases: DatabaseRegistry;
  readonly operations: EventOperations;
  readonly counters: string[];
  /** Whether processes that start from now on hold back the new step of the second release. */
  holdsChecks: boolean;
}

/** A wallet on four shards with processes of the first release. */
async function makeWorld(harness: DatabaseHarness, random: SeededRandom, processes: number): Promise<World> {
  const topology = await harness.makeTopology({ shards: SHARDS, migrations: rolloutMigrations });
  const sources = topology.groups.flatMap(({ members }) => members.map(({ primary }) => primary));
  const databases = openDatabases(topology, { warn: () => {} });
  const counters: string[] = [];
  const user = { user: sources[0]?.username ?? '', password: sources[0]?.password?.reveal() ?? '' };
  const urls = sources.map(({ url }) => url);
  const made = new Fleet(program, (release: Release) => {
    return { release, counters, holdsChecks: world.holdsChecks, urls, user };
  });
  fleet = made;
  const wallets = new Wallets(made, random);
  const operations = new EventOperations(databases);
  const world: World = { fleet: made, wallets, databases, operations, counters, holdsChecks: false };
  // Handlers need the counters, so a first process opens the wallets.
  const first = await made.start(1);
  for (const [shard] of SHARDS.entries())
    counters.push(await openWallet(made, random, (shard + 1) % SHARDS.length, 0));
  await wallets.open();
  await made.end(first, 'SIGTERM');
  await Promise.all(Array.from({ length: processes }, () => made.start(1)));
  return world;
}

const UNFINISHED = `SELECT saga || ' ' || step, state, failure_code FROM eventlog.sagas WHERE state <> 'ENDED'
  UNION ALL SELECT action_name, state, error_message FROM eventlog.schedules
    WHERE state NOT IN ('done', 'cancelled') AND action_name <> 'Saga.overdue'`;

/** Waits until every saga has ended, every scheduled action is done and every event is delivered. */
async function settle({ databases, operations }: World): Promise<void> {
  const unfinished = () => onAll(databases, UNFINISHED);
  const behind = async () =>
    (await operations.lag()).flatMap(({ shard, consumers }) =>
      consumers.filter((each) => each.behind > 0).map((each) => ({ shard: String(shard), ...each })),
    );
  await until(async () => (await unfinished()).length + (await behind()).length === 0, PATIENCE_MS).catch(
    async () => expect([await unfinished(), await behind()]).toEqual([[], []]),
  );
  expect(await operations.deadLetters.list()).toEqual([]);
}

/** Replaces the processes of the first release one by one under load. */
async function rollOut(world: World, random: SeededRandom): Promise<void> {
  const { wallets } = world;
  const more = async (): Promise<void> => {
    const enough = wallets.answered + STEP;
    await until(() => wallets.answered >= enough, PATIENCE_MS);
  };
  const end = (release: Release): Promise<void> => {
    const process = random.pick(world.fleet.of(release));
    if (process === undefined) throw new Error(`No process of release ${release} runs`);
    return world.fleet.end(process, random.chance(0.5) ? 'SIGKILL' : 'SIGTERM');
  };
  wallets.start();
  await more();
  while (world.fleet.of(1).length > 0) {
    await world.fleet.start(2);
    await more();
    // A process of either release may restart in the middle of a rollout.
    const restarted: Release = random.chance(0.5) ? 1 : 2;
    await end(restarted);
    // Some requests are for the second release only.
    if (world.fleet.of(2).length > 0) await more();
    await world.fleet.start(restarted);
    await more();
    await end(1);
    await more();
  }
  await wallets.stop();
}

/** How often each kind of work was done, over all shards. */
async function countsOf({ databases }: World): Promise<Readonly<Record<string, number>>> {
  const counts = new Map<string, number>();
  for (const [name, count] of await onAll(databases, COUNTS))
    counts.set(String(name), (counts.get(String(name)) ?? 0) + Number(count));
  return Object.fromEntries(counts);
}

const COUNTS = `SELECT event_type || ' ' || event_version, count(*) FROM eventlog.events
  WHERE event_type ~ '^(WalletMoney|WalletFunds|WalletChecked|TransferInit)' GROUP BY 1
  UNION ALL SELECT 'handled by release ' || release, count(*) FROM seen GROUP BY 1
  UNION ALL SELECT 'scheduled deposits', count(*) FROM eventlog.schedules WHERE action_name = 'ScheduledDeposit'`;

describeOn('postgresql', 'Two releases of a wallet on four shards', (harness) => {
  test(
    `lose nothing and repeat nothing while processes are replaced one by one (seed ${SEED})`,
    async () => {
      const endMs = performance.now() + RUN_MS;
      let seed = SEED;
      do {
        const random = new SeededRandom(seed);
        const world = await makeWorld(harness, random, PROCESSES);
        await rollOut(world, random);
        await settle(world);
        const counts = await countsOf(world);
        console.info(`seed ${seed}: ${world.wallets.answered} requests, ${JSON.stringify(counts)}`);
        expect({ seed, violations: await world.wallets.violations(world.databases, world.counters) }).toEqual(
          {
            seed,
            violations: [],
          },
        );
        // Otherwise the rollout would have shown nothing.
        for (const name of WORK) expect(counts[name], name).toBeGreaterThan(0);
        await world.fleet.endAll();
        await world.databases.close(0);
        await harness.cleanUp();
        seed += 1;
      } while (performance.now() < endMs);
    },
    TEST_MS + 2 * RUN_MS,
  );

  test(
    'deliver events that only the second one knows, although it ends at once',
    async () => {
      const random = new SeededRandom(1);
      const world = await makeWorld(harness, random, 1);
      const second = await world.fleet.start(2);
      for (const [shard] of SHARDS.entries()) await world.wallets.check(world.wallets.on(shard));
      await world.fleet.end(second, 'SIGKILL');
      await until(async () => {
        const waits = (await world.operations.lag()).map(
          ({ consumers }) => consumers.find(isCopy)?.waitingFor,
        );
        return waits.every((each) => each?.includes('event:WalletCheckedEvent'));
      }, PATIENCE_MS);
      await world.fleet.start(2);
      await settle(world);
      expect(await world.wallets.violations(world.databases, world.counters)).toEqual([]);
      expect((await countsOf(world))['WalletCheckedEvent 1']).toBe(SHARDS.length);
      await world.databases.close(0);
    },
    TEST_MS,
  );

  test(
    'leave a saga in a step that only the second one knows to the second one',
    async () => {
      const random = new SeededRandom(1);
      const world = await makeWorld(harness, random, 0);
      world.holdsChecks = true;
      const holding = await world.fleet.start(2);
      await world.wallets.transfer(world.wallets.on(0), world.wallets.on(1));
      await until(
        async () =>
          String((await on(world.databases, 0, 'SELECT step FROM eventlog.sagas'))[0]) === 'CHECKING',
        PATIENCE_MS,
      );
      await world.fleet.end(holding, 'SIGKILL');
      await world.fleet.start(1);
      await until(async () => {
        const [lag] = await world.operations.lag(SHARDS[0]);
        return lag?.consumers.some(({ waitingFor }) => waitingFor?.includes('step CHECKING')) === true;
      }, PATIENCE_MS);
      world.holdsChecks = false;
      await world.fleet.start(2);
      await settle(world);
      expect(await world.wallets.violations(world.databases, world.counters)).toEqual([]);
      await world.databases.close(0);
    },
    TEST_MS,
  );
});

function isCopy({ name }: { readonly name: string }): boolean {
  return name === 'Copy';
}

const WORK: readonly string[] = [
  'WalletMoneyDepositedEvent 1',
  'WalletFundsAddedEvent 1',
  'WalletMoneyWithdrawnEvent 1',
  'WalletMoneyWithdrawnEvent 2',
  'WalletCheckedEvent 1',
  'scheduled deposits',
  'handled by release 1',
  'handled by release 2',
];
