import { setTimeout as delay } from 'node:timers/promises';
import type { ActionExecutor } from 'fw-actions';
import { check } from './checker.js';
import { send } from './customer.js';
import { EVERYTHING, type FaultMix, faultSchedule } from './fault-schedule.js';
import { type FaultWorld, TIMEOUT_MS } from './fault-world.js';
import { type Call, History, unknownOf, type WalletRequest } from './history.js';
import { SeededRandom } from './seeded-random.js';
import type { Violation } from './violations.js';
import { EVERY_REQUEST, type RequestMix, WalletRequests } from './wallet-requests.js';

export interface FaultRunOptions {
  readonly seed: number;
  /** The run ends after this number of faults... */
  readonly faults: number;
  /** ...or after this time, in milliseconds. */
  readonly atMostMs: number;
  readonly faultMix?: FaultMix;
  readonly requestMix?: RequestMix;
}

export interface FaultRunResult {
  readonly history: History;
  readonly violations: readonly Violation[];
  /** Number of faults. */
  readonly faults: number;
}

const CUSTOMERS = 12;
/** Share of keyed requests that are sent several times at once. */
const SENT_AT_ONCE = 0.3;
/** Share of turns in which an earlier keyed request is sent again. */
const SENT_AGAIN = 0.15;
/** Share of unknown outcomes that are queried at once, while faults continue. */
const ASKED_AT_ONCE = 0.5;

/** Runs customers while connections break, then compares the history with the rows. */
export async function runFaults(world: FaultWorld, options: FaultRunOptions): Promise<FaultRunResult> {
  const run = new FaultRun(world, options);
  await run.openFirstWallets();
  await run.work();
  await run.settle();
  const violations = check(run.history, await world.rows(), TIMEOUT_MS);
  return { history: run.history, violations, faults: run.faults };
}

class FaultRun {
  readonly history = new History();
  readonly #world: FaultWorld;
  readonly #options: FaultRunOptions;
  readonly #random: SeededRandom;
  readonly #requests: WalletRequests;
  readonly #keyed: WalletRequest[] = [];
  readonly #struckBefore: number;

  constructor(world: FaultWorld, options: FaultRunOptions) {
    this.#world = world;
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
    const { requestMix = EVERY_REQUEST } = options;
    this.#requests = new WalletRequests(
      new SeededRandom(options.seed + 1),
      requestMix,
      `run-${options.seed}`,
    );
    this.#struckBefore = this.#struck();
  }

  get faults(): number {
    return this.#struck() - this.#struckBefore;
  }

  /** Opens two wallets on each shard, before the first fault. */
  async openFirstWallets(): Promise<void> {
    for (const country of ['US', 'MX', 'US', 'MX']) {
      const call = await this.#send(this.#requests.create(country));
      if (call.answer.kind !== 'acknowledged') throw new Error(`No wallet: ${JSON.stringify(call.answer)}`);
    }
  }

  async work(): Promise<void> {
    const { seed, faultMix = EVERYTHING, faults, atMostMs } = this.#options;
    this.#world.proxies.forEach((proxy, index) => {
      proxy.nextFault = faultSchedule(new SeededRandom(seed + 100 + index), faultMix);
    });
    const endMs = performance.now() + atMostMs;
    const customer = async (): Promise<void> => {
      while (this.faults < faults && performance.now() < endMs) await this.#turn();
    };
    await Promise.all(Array.from({ length: CUSTOMERS }, customer));
  }

  /** Ends the faults: late requests arrive, and every outcome can be determined. */
  async settle(): Promise<void> {
    for (const proxy of this.#world.proxies) proxy.nextFault = () => undefined;
    // An outcome must be the same before and after late requests have arrived.
    for (const id of this.history.unresolved) if (this.#random.chance(0.5)) await this.#resolve(id);
    await delay(300);
    await this.#world.untilQuiet();
    for (let round = 0; round < 5 && this.history.unresolved.length > 0; round += 1) {
      await Promise.all(this.history.unresolved.map((id) => this.#resolve(id)));
    }
    // An outcome that was reported during the run must not change.
    for (const id of this.history.resolutions.keys()) await this.#resolve(id);
  }

  #struck(): number {
    return this.#world.proxies.reduce((sum, proxy) => sum + proxy.struckInAll, 0);
  }

  async #turn(): Promise<void> {
    const earlier = this.#random.chance(SENT_AGAIN) ? this.#random.pick(this.#keyed) : undefined;
    const request = earlier ?? this.#requests.next();
    if (request.key !== undefined) this.#keyed.push(request);
    const times =
      request.key !== undefined && this.#random.chance(SENT_AT_ONCE) ? 2 + this.#random.below(3) : 1;
    await Promise.all(Array.from({ length: times }, () => this.#send(request)));
  }

  async #send(request: WalletRequest): Promise<Call> {
    const call = await send(this.#anyExecutor(), request, this.history);
    const { answer } = call;
    if (answer.kind === 'acknowledged' && answer.result !== undefined && request.kind === 'create') {
      if (!this.#requests.wallets.includes(answer.result.id)) this.#requests.wallets.push(answer.result.id);
    }
    for (const id of unknownOf(answer)) if (this.#random.chance(ASKED_AT_ONCE)) await this.#resolve(id);
    return call;
  }

  async #resolve(actionId: string): Promise<void> {
    const outcome = await this.#anyExecutor().outcomeOf(actionId);
    this.history.resolved(actionId, outcome);
  }

  #anyExecutor(): ActionExecutor {
    const executor = this.#random.pick(this.#world.executors);
    if (executor === undefined) throw new Error('The world has no executor');
    return executor;
  }
}
