import { afterEach, beforeEach, expect, test } from 'vitest';
import { application } from '../../examples/wallet/generated/application.js';
import type { Transfer } from '../../examples/wallet/models/transfer.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { SeededRandom } from '../../test/faults/seeded-random.js';
import type { Application } from '../application.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { mortalDatabases } from '../events/test-support/faulty-databases.js';
import { until } from '../events/test-support/ledger.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import {
  type Books,
  initiate,
  openPurses,
  type Purses,
  readBooks,
  readEndings,
  SURVIVOR_LEASE_MS,
  transferOf,
  walletProcess,
} from './test-support/transfers.js';

/** Number of processes that die one after the other. */
const LIVES = Number(process.env['FW_PROOF_SAGAS'] ?? 6);
const SEED = Number(process.env['FW_PROOF_SEED'] ?? 1);
/** A transfer over two shards takes about twenty statements of its process, including those between the steps. */
const LAST_STATEMENT = 30;
const TRANSFERS_PER_LIFE = 3;
const SHARDS: readonly ShardIdentifier[] = [GLOBAL_SHARD, MEXICO_SHARD];

/** Reads the books repeatedly; each snapshot must be balanced. */
class Auditor {
  readonly #databases: DatabaseRegistry;
  readonly #expected: ReadonlyMap<ShardIdentifier, number>;
  readonly #loop: Promise<void>;
  readonly wrong: string[] = [];
  snapshots = 0;
  #stopping = false;

  constructor(databases: DatabaseRegistry, expected: ReadonlyMap<ShardIdentifier, number>) {
    this.#databases = databases;
    this.#expected = expected;
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      for (const shard of SHARDS) await this.#look(shard);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async #look(shard: ShardIdentifier): Promise<void> {
    const books = await readBooks(this.#databases, shard);
    this.snapshots += 1;
    if (ownMoney(books) !== this.#expected.get(shard)) this.wrong.push(`${shard} ${JSON.stringify(books)}`);
  }
}

function ownMoney({ balances, sent, received }: Books): number {
  return balances + sent - received;
}

describeOnEachAdapter('Transfers of processes that are killed at random', (harness) => {
  let healthy: DatabaseRegistry;
  let writer: Application;
  let survivor: Application | undefined;
  let purses: Purses;
  let auditor: Auditor;

  beforeEach(async () => {
    healthy = await harness.makeShards({ shards: SHARDS, migrations: application.migrations });
    writer = walletProcess(healthy, false);
    purses = await openPurses(writer);
    const books = SHARDS.map(async (shard) => [shard, ownMoney(await readBooks(healthy, shard))] as const);
    auditor = new Auditor(healthy, new Map(await Promise.all(books)));
  });

  afterEach(async () => {
    await auditor.stop();
    await Promise.all([writer, survivor].map((application) => application?.events.stop(0)));
  });

  /** Starts transfers of every kind; some have a deadline in the past. */
  async function start(random: SeededRandom): Promise<readonly Transfer[]> {
    const started: Transfer[] = [];
    for (let count = 0; count < TRANSFERS_PER_LIFE; count += 1) {
      const [source, destination] = [random.pick(purses.sources), random.pick(purses.destinations)];
      if (source === undefined || destination === undefined) throw new Error('There are no wallets');
      const transfer = await initiate(writer, source, destination, 1 + random.below(9));
      started.push(transfer);
      if (random.chance(0.4)) await hasten(transfer);
    }
    return started;
  }

  async function hasten({ id }: Transfer): Promise<void> {
    await healthy.database(id.resolveShardIdentifier()).query({
      text: `WITH due AS (UPDATE eventlog.schedules SET next_date = clock_timestamp()
          WHERE params ->> 'saga' = $1::text AND state = 'pending')
        UPDATE eventlog.sagas SET deadline = clock_timestamp(), timeout_ms = 0 WHERE id = $1::uuid`,
      values: [id.getValue()],
    });
  }

  /** One process: runs until it dies. */
  async function live(random: SeededRandom): Promise<readonly Transfer[]> {
    const { databases, arm, dead } = mortalDatabases(healthy);
    const mortal = walletProcess(databases, true);
    await untilHeld(healthy);
    const started = await start(random);
    arm(1 + random.below(LAST_STATEMENT), random.chance(0.5));
    await until(dead);
    await mortal.events.stop(0);
    await databases.close(0);
    return started;
  }

  /** An event that crashed several processes in a row is parked until an operator requests a retry. */
  async function ended(transfer: Transfer): Promise<void> {
    await until(async () => {
      const parked = await writer.events.deadLetters.list({
        state: 'failed',
        modelId: transfer.id.getValue(),
      });
      for (const { errorCode, retrying, ...letter } of parked) {
        expect(errorCode).toBe('FW_HANDLER_DIED');
        if (!retrying) await writer.events.deadLetters.retry(letter);
      }
      return /COMPLETED|REFUNDED/.test((await transferOf(writer, transfer)).state);
    });
  }

  test(
    'each end in exactly one way, and no money is made or lost on the way',
    async () => {
      const random = new SeededRandom(SEED);
      const started: Transfer[] = [];
      for (let life = 0; life < LIVES; life += 1) started.push(...(await live(random)));
      survivor = walletProcess(healthy, true, SURVIVOR_LEASE_MS);
      for (const transfer of started) await ended(transfer);
      await survivor.events.stop();
      await auditor.stop();

      expect({ seed: SEED, wrong: auditor.wrong }).toEqual({ seed: SEED, wrong: [] });
      expect(auditor.snapshots).toBeGreaterThan(LIVES);
      const endings = await readEndings(healthy);
      expect(endings.size).toBe(started.length);
      for (const [id, { state, credits, refunds }] of endings) {
        const expected = state === 'COMPLETED' ? [id, 'COMPLETED', 1, 0] : [id, 'REFUNDED', 0, 1];
        expect([id, state, credits, refunds]).toEqual(expected);
      }
      const { sent, received } = await totals(healthy);
      expect(sent).toBe(received);
      expect((await writer.sagas.list({ stuck: true })).items).toEqual([]);
    },
    120_000 + LIVES * 5_000,
  );
});

async function totals(databases: DatabaseRegistry): Promise<Pick<Books, 'sent' | 'received'>> {
  const [global, mexico] = [
    await readBooks(databases, GLOBAL_SHARD),
    await readBooks(databases, MEXICO_SHARD),
  ];
  return { sent: global.sent + mexico.sent, received: global.received + mexico.received };
}

/** Waits until live processes hold the leases on both shards. */
async function untilHeld(databases: DatabaseRegistry): Promise<void> {
  for (const shard of SHARDS) {
    await until(async () => {
      const { rows } = await databases.database(shard).query({ text: HELD, values: [] });
      return Number(rows[0]?.[0]) === 2;
    });
  }
}

/** Counts leases of live processes only; dead ones have not been seen for a while. */
const HELD = `SELECT count(*) FROM eventlog.consumers AS c JOIN eventlog.delivery_processes AS p ON p.id = c.holder
  WHERE c.leased_until > clock_timestamp() AND c.name IN ('TransferSaga', '#schedules')
    AND p.id = (SELECT id FROM eventlog.delivery_processes ORDER BY heartbeat DESC LIMIT 1)`;
