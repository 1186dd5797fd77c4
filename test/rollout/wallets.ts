import { randomUUID } from 'node:crypto';
import type { DatabaseRegistry } from '../../runtime/sharding/database-registry.js';
import type { SeededRandom } from '../faults/seeded-random.js';
import type { Fleet } from './fleet.js';
import { SEEN, SHARDS } from './releases.js';

const BALANCE = 1_000_000;
const WALLETS_PER_SHARD = 2;
const CLIENTS = 8;

/** Wallets on all shards with a load of requests, each of which is repeated until it is answered. */
export class Wallets {
  readonly #fleet: Fleet;
  readonly #random: SeededRandom;
  readonly #wallets: string[] = [];
  /** Money that requests have put into each wallet, without transfers. */
  readonly #deposited = new Map<string, number>();
  readonly #transfers = new Set<string>();
  #clients: readonly Promise<void>[] = [];
  #isRunning = false;
  #answered = 0;

  constructor(fleet: Fleet, random: SeededRandom) {
    this.#fleet = fleet;
    this.#random = random;
  }

  /** Requests that were answered. */
  get answered(): number {
    return this.#answered;
  }

  /** The first wallet of a shard. */
  on(shard: number): string {
    return this.#wallets[shard * WALLETS_PER_SHARD] ?? '';
  }

  async open(): Promise<void> {
    for (const [shard] of SHARDS.entries()) {
      for (let count = 0; count < WALLETS_PER_SHARD; count += 1) {
        const id = await openWallet(this.#fleet, this.#random, shard, BALANCE);
        this.#wallets.push(id);
        this.#deposited.set(id, BALANCE);
      }
    }
  }

  start(): void {
    this.#isRunning = true;
    this.#clients = Array.from({ length: CLIENTS }, () => this.#client());
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#clients);
  }

  async transfer(from: string, to: string): Promise<string> {
    const amount = 1 + this.#random.below(9);
    const request = { kind: 'transfer', key: randomUUID(), from, to, amount } as const;
    const id = await this.#fleet.request(request, this.#random);
    this.#transfers.add(id);
    return id;
  }

  async check(wallet: string): Promise<void> {
    await this.#fleet.request({ kind: 'check', key: randomUUID(), wallet }, this.#random);
  }

  async #client(): Promise<void> {
    while (this.#isRunning) {
      await this.#one();
      this.#answered += 1;
    }
  }

  async #one(): Promise<void> {
    const random = this.#random;
    const [wallet = '', other = ''] = [random.pick(this.#wallets), random.pick(this.#wallets)];
    if (wallet !== other && random.chance(0.4)) {
      await this.transfer(wallet, other);
    } else if (random.chance(0.3) && this.#fleet.of(2).length > 0) {
      await this.#fleet.request({ kind: 'later', key: randomUUID(), wallet }, random);
      this.#add(wallet, 2);
    } else {
      const amount = 1 + random.below(9);
      await this.#fleet.request({ kind: 'deposit', key: randomUUID(), wallet, amount }, random);
      this.#add(wallet, amount);
    }
  }

  #add(wallet: string, amount: number): void {
    this.#deposited.set(wallet, (this.#deposited.get(wallet) ?? 0) + amount);
  }

  /** Everything that is lost or has happened twice, once all work is done. */
  async violations(databases: DatabaseRegistry, counters: readonly string[]): Promise<readonly string[]> {
    const balances = new Map((await onAll(databases, 'SELECT id, balance::int FROM wallets')).map(pair));
    const found: string[] = [];
    const expected = new Map(this.#deposited);
    const stored = await onAll(
      databases,
      'SELECT id, source_id, destination_id, amount::int, state FROM transfers',
    );
    for (const [id, source, destination, amount, state] of stored) {
      if (!this.#transfers.delete(String(id))) found.push(`transfer ${String(id)} was never answered`);
      if (state !== 'COMPLETED') found.push(`transfer ${String(id)} is ${String(state)}`);
      expected.set(String(source), (expected.get(String(source)) ?? 0) - Number(amount));
      expected.set(String(destination), (expected.get(String(destination)) ?? 0) + Number(amount));
    }
    for (const id of this.#transfers) found.push(`transfer ${id} was answered and is lost`);
    for (const [index, counter] of counters.entries()) {
      const [[initiated] = []] = await on(databases, index, `${EVENTS} = 'TransferInitiatedEvent'`);
      expected.set(counter, Number(initiated));
    }
    for (const [id, balance] of expected)
      if (balances.get(id) !== balance)
        found.push(`wallet ${id} has ${balances.get(id)}, expected ${balance}`);
    for (const [id, version, changes] of await onAll(databases, VERSIONS))
      if (version !== changes)
        found.push(`wallet ${String(id)} has version ${version} after ${changes} changes`);
    for (const [id, times] of await onAll(databases, unseen()))
      found.push(`event ${String(id)} was handled ${String(times)} times`);
    return found;
  }
}

export function openWallet(
  fleet: Fleet,
  random: SeededRandom,
  shard: number,
  balance: number,
): Promise<string> {
  return fleet.request({ kind: 'open', key: randomUUID(), shard, balance }, random);
}

type Row = readonly unknown[];

export async function on(databases: DatabaseRegistry, index: number, text: string): Promise<readonly Row[]> {
  const shard = SHARDS[index];
  if (shard === undefined) throw new Error('There are four');
  return (await databases.database(shard).query({ text, values: [] })).rows;
}

export async function onAll(databases: DatabaseRegistry, text: string): Promise<readonly Row[]> {
  return (await Promise.all(SHARDS.map((_, index) => on(databases, index, text)))).flat();
}

function pair([id, value]: Row): readonly [string, number] {
  return [String(id), Number(value)];
}

const EVENTS = 'SELECT count(*)::int FROM eventlog.events WHERE event_type';

/** Each change of a wallet emits one event. */
const VERSIONS = `SELECT w.id, w.version::int, count(DISTINCT e.model_version)::int FROM wallets AS w
  LEFT JOIN eventlog.events AS e ON e.model_id = w.id::text GROUP BY w.id`;

/** Selected events that were not handled exactly once. */
function unseen(): string {
  return `SELECT e.id, count(s.event_id)::int FROM eventlog.events AS e LEFT JOIN seen AS s ON s.event_id = e.id
    WHERE e.event_type IN ('${SEEN.join("', '")}') GROUP BY e.id HAVING count(s.event_id) <> 1`;
}
