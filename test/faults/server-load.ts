import { setTimeout as delay } from 'node:timers/promises';
import type { ActionExecutor } from 'fw-actions';
import { send } from './customer.js';
import { History } from './history.js';
import { SeededRandom } from './seeded-random.js';
import { EVERY_REQUEST, markedAmount, WalletRequests } from './wallet-requests.js';

/** One deposit as its customer saw it. Times are `performance.now()` values. */
export interface Sample {
  readonly startedMs: number;
  readonly endedMs: number;
  /** `ok`, or the error. */
  readonly outcome: string;
}

export type Country = 'US' | 'MX';

const CUSTOMERS_PER_SHARD = 6;
/** Customers pause, so that one shard does not take the CPU from the other, in milliseconds. */
const PAUSE_MS = 4;
const FIRST_NUMBER = 1_000;

/** Steady deposits on both shards, with separate customers per shard. */
export class ServerLoad {
  readonly history: History = new History();
  readonly samples: Readonly<Record<Country, Sample[]>> = { US: [], MX: [] };
  readonly #executor: ActionExecutor;
  readonly #run: string;
  #number = FIRST_NUMBER;
  #stopped = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(executor: ActionExecutor, run: string) {
    this.#executor = executor;
    this.#run = run;
  }

  async start(): Promise<void> {
    const requests = new WalletRequests(new SeededRandom(1), EVERY_REQUEST, this.#run);
    const customers: Promise<void>[] = [];
    for (const country of ['US', 'MX'] as const) {
      for (let count = 0; count < CUSTOMERS_PER_SHARD; count += 1) {
        const { answer } = await send(this.#executor, requests.create(country), this.history);
        if (answer.kind !== 'acknowledged' || answer.result === undefined)
          throw new Error(`No wallet: ${JSON.stringify(answer)}`);
        customers.push(this.#customer(country, answer.result.id));
      }
    }
    this.#work = Promise.all(customers);
  }

  /** Ends the load and determines the unknown outcomes. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work;
    for (const id of this.history.unresolved) this.history.resolved(id, await this.#executor.outcomeOf(id));
  }

  /** Samples of a shard that were in progress at any time between these two. */
  during(country: Country, fromMs: number, toMs: number): readonly Sample[] {
    return this.samples[country].filter(({ startedMs, endedMs }) => endedMs >= fromMs && startedMs <= toMs);
  }

  /** Waits for the first successful deposit that ended after `backMs`. Returns the difference, in milliseconds. */
  async firstSuccessAfter(country: Country, backMs: number): Promise<number> {
    for (let turn = 0; turn < 500; turn += 1) {
      const first = this.samples[country].find(
        ({ outcome, endedMs }) => outcome === 'ok' && endedMs >= backMs,
      );
      if (first !== undefined) return first.endedMs - backMs;
      await delay(10);
    }
    return Number.POSITIVE_INFINITY;
  }

  async #customer(country: Country, walletId: string): Promise<void> {
    while (!this.#stopped) {
      this.#number += 1;
      const number = this.#number;
      const startedMs = performance.now();
      const request = {
        kind: 'deposit',
        number,
        key: undefined,
        walletId,
        amount: markedAmount(number),
      } as const;
      const { answer } = await send(this.#executor, request, this.history);
      const outcome =
        answer.kind === 'acknowledged' ? 'ok' : answer.kind === 'failed' ? answer.code : answer.kind;
      this.samples[country].push({ startedMs, endedMs: performance.now(), outcome });
      await delay(PAUSE_MS);
    }
  }
}

/** The quantile `share` of their durations, in milliseconds. */
export function latency(samples: readonly Sample[], share: number): number {
  const sorted = samples.map(({ startedMs, endedMs }) => endedMs - startedMs).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
