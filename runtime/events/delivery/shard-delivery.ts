import type { Durations } from '../../concurrency/durations.js';
import { HeldLease } from '../../concurrency/held-lease.js';
import { time } from '../../concurrency/time.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { messageOf } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { FailoverRegister, handlerAhead, timelineOf } from '../../sharding/failover-register.js';
import { requireOwnLog } from '../../sharding/log-server.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { TransactionManager } from '../../sharding/transaction-manager.js';
import { FailureWarnings } from '../log/failure-warnings.js';
import { LogReader } from '../log/log-reader.js';
import { Signal } from '../log/signal.js';
import { WakeUp } from '../log/wake-up.js';
import type { Attempts } from './attempts.js';
import { type Consumer, missingItems, selectionItems } from './consumer.js';
import { ConsumerRun } from './consumer-run.js';
import type { ConsumerRunOptions } from './consumer-run-options.js';
import { ConsumerStore, type LeasedConsumer, type ShardSurvey } from './consumer-store.js';
import type { DeliveryLimits } from './delivery-limits.js';
import { chooseLeases } from './lease-balance.js';
import { LeasedLoop, type LeasedWork, type RunEnd } from './leased-loop.js';
import { ParkingStore } from './parking-store.js';
import { Rebuild } from './rebuild.js';
import { registerConsumer, registerConsumers, takeNameBack } from './register-consumers.js';
import { TransactionalRun } from './transactional-run.js';

/** Work under a lease of its own on each shard, which reads no log: scheduled actions. */
export interface OwnWork {
  /** Name of its consumer: begins with `#`, which names of handlers never contain. */
  readonly name: string;
  /** Called before the first lease, and again after a failover. @param process as it holds leases */
  register(process: string): Promise<void>;
  start(loop: LeasedLoop): LeasedWork;
  /** Waits for the work in progress. @param graceMs milliseconds after which it is aborted */
  drain(graceMs: number): Promise<void>;
}

export interface ShardDeliveryOptions {
  readonly database: ShardDatabase;
  readonly consumers: readonly Consumer[];
  readonly ownWork: OwnWork | undefined;
  /** Unique among all processes. */
  readonly process: string;
  readonly limits: DeliveryLimits;
  readonly warn: (message: string) => void;
  /** Counts the ages of handled events, by the name of the consumer, over all shards of the process. */
  readonly ages: ReadonlyMap<string, Durations>;
}

/** Maximum time for handlers to finish when this process gives a lease to another one, in milliseconds. */
const HAND_OVER_GRACE_MS = 10_000;
/** Time for which this process does not take a consumer again after releasing it as waiting, in milliseconds. */
const WAITING_PAUSE_MS = 3_000;

/** Delivery on one shard: holds the leases of this process and runs their consumers. */
export class ShardDelivery {
  readonly shard: ShardIdentifier;
  readonly #options: ShardDeliveryOptions;
  /** Handlers and sinks by name. */
  readonly #live: ReadonlyMap<string, Consumer & { readonly ofShard: Attempts }>;
  /** Names of the consumers that this process can run. */
  readonly #known: readonly string[];
  readonly #consumers: ConsumerStore;
  readonly #letters: ParkingStore;
  readonly #reader: LogReader;
  readonly #failovers: FailoverRegister;
  readonly #wakeUp: WakeUp;
  readonly #signal = new Signal();
  readonly #held = new Map<string, LeasedLoop>();
  readonly #ending = new Set<Promise<unknown>>();
  /** Consecutive surveys in which a consumer was free. */
  readonly #freeFor = new Map<string, number>();
  readonly #leftUntilMs = new Map<string, number>();
  /** Why this process left consumers to others. It does not offer to take them, but tries again. */
  readonly #waitReasons = new Map<string, string>();
  readonly #loop: Promise<void>;
  #registered = false;
  #timeline: string | undefined;
  #stopping = false;

  constructor(options: ShardDeliveryOptions) {
    this.#options = options;
    this.shard = options.database.shard;
    const { database, consumers, ownWork, warn } = options;
    this.#live = new Map(
      consumers.map((each) => [each.name, { ...each, ofShard: each.attempts(database.shard) }]),
    );
    this.#known = [...this.#live.keys(), ...(ownWork === undefined ? [] : [ownWork.name])];
    this.#consumers = new ConsumerStore(database);
    this.#letters = new ParkingStore(database);
    this.#reader = new LogReader(database);
    this.#failovers = new FailoverRegister(database);
    this.#wakeUp = new WakeUp(database, options.limits, {
      wake: () => this.wake(),
      isNeeded: () => this.#held.size > 0,
      warn,
    });
    this.#loop = this.#run();
  }

  /** Called when a commit on this shard has happened or may have happened. */
  wake(): void {
    for (const run of this.#held.values()) run.wake();
  }

  /** Called after a commit of this process on this shard: notifies other processes, which may hold the leases. */
  committed(): void {
    this.wake();
    this.#wakeUp.notifyOthers();
  }

  /** Looks for events and free leases at once. */
  lookAround(): void {
    this.wake();
    this.#signal.notify();
  }

  /** The shard's connections were replaced: listens again on a new one. */
  databaseReplaced(): Promise<void> {
    return this.#wakeUp.listenAnew();
  }

  /** Lets handlers finish within `graceMs`, saves checkpoints and releases all leases. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#signal.notify();
    await this.#loop;
    await Promise.all([...this.#held.values()].map((run) => run.stop(graceMs)));
    await Promise.all(this.#ending);
    await this.#options.ownWork?.drain(graceMs);
    await this.#wakeUp.stop();
    await this.#consumers.leave(this.#options.process).catch(() => {});
  }

  async #run(): Promise<void> {
    const warnings = new FailureWarnings(this.#options.warn);
    while (!this.#stopping) {
      try {
        if (!this.#registered) await this.#register();
        await this.#survey();
        if (warnings.succeeded()) this.#options.warn(`Delivery on shard ${this.shard} works again`);
      } catch (error) {
        // The databases were closed meanwhile: no lease is left to release.
        if (isClosed(error)) return;
        warnings.failed(`Delivery on shard ${this.shard}`, error);
      }
      if (!this.#stopping) await this.#signal.wait(this.#options.limits.surveyMs);
    }
  }

  async #register(): Promise<void> {
    const { database, consumers, ownWork, process } = this.#options;
    await requireOwnLog(database);
    await registerConsumers(database, consumers);
    if (ownWork !== undefined) {
      await registerConsumer(database, { name: ownWork.name, kind: 'schedules' });
      await ownWork.register(process);
    }
    this.#registered = true;
  }

  async #survey(): Promise<void> {
    const { process, limits } = this.#options;
    const askedMs = time.nowMs();
    const held = [...this.#held.values()].map(({ lease }) => lease.lease);
    const offered = this.#known.filter((name) => this.#held.has(name) || !this.#waitReasons.has(name));
    const survey = await this.#consumers.survey(process, offered, limits.leaseMs, held);
    this.#renew(survey, askedMs);
    await this.#noticeTimeline(timelineOf(survey.serverRun));
    this.#wakeUp.othersAreThere(survey.processes.length > 0);
    await this.#takeNamesBack(survey);
    const plan = this.#plan(survey);
    for (const name of plan.release) this.#handOver(name);
    for (const name of plan.acquire) await this.#acquire(name);
  }

  /** A newer release has renamed the consumers of this process that the survey lacks. */
  async #takeNamesBack({ consumers }: ShardSurvey): Promise<void> {
    const { database, warn } = this.#options;
    for (const { name } of this.#options.consumers) {
      if (consumers.some((each) => each.name === name) || !(await takeNameBack(database, name))) continue;
      warn(`${name} on shard ${this.shard} runs again: no process of the release that renamed it is left`);
    }
  }

  #renew({ consumers, renewed }: ShardSurvey, askedMs: number): void {
    const { process } = this.#options;
    for (const [name, run] of this.#held) {
      const found = consumers.find((each) => each.name === name);
      if (found?.holder === process && found.superseded) run.supersede();
      const isRevoked = found !== undefined && found.fence !== run.lease.lease.fence;
      if (renewed.includes(name) && !isRevoked) run.lease.renewed(askedMs);
      else if (isRevoked || found?.holder !== process) {
        run.lease.lost();
        run.wake();
      }
    }
  }

  async #noticeTimeline(timeline: string): Promise<void> {
    if (timeline === this.#timeline) return;
    await this.#noticeFailover();
    if (this.#timeline !== undefined) await this.#register();
    this.#timeline = timeline;
  }

  async #noticeFailover(): Promise<void> {
    const failover = await this.#failovers.notice();
    if (failover === undefined) return;
    this.#options.warn(
      `Shard ${this.shard} ${failover}. Commits that the new server had not received are lost. ` +
        'Run fw-gen events failovers for a list of the known losses',
    );
  }

  /** Reports handled events that the log lost in a failover: their external effects remain. */
  async #reportAhead({ lease, replay }: LeasedConsumer, handled: readonly string[]): Promise<void> {
    if (handled.length === 0 || replay !== undefined) return;
    const eventIds = await this.#reader.missing(handled);
    if (eventIds.length === 0) return;
    await this.#noticeFailover();
    await this.#failovers.report(lease.name, eventIds);
    const { inWords } = handlerAhead(lease.name, eventIds.length, eventIds);
    this.#options.warn(`Shard ${this.shard}: ${inWords}`);
  }

  #plan({ consumers, processes }: ShardSurvey): ReturnType<typeof chooseLeases> {
    const now = time.nowMs();
    const usable = consumers.filter(({ name }) => (this.#leftUntilMs.get(name) ?? 0) <= now);
    const free = new Set<string>();
    for (const { name, free: isFree } of usable) {
      if (!isFree || this.#held.has(name)) continue;
      free.add(name);
      this.#freeFor.set(name, (this.#freeFor.get(name) ?? 0) + 1);
    }
    for (const name of this.#freeFor.keys()) if (!free.has(name)) this.#freeFor.delete(name);
    return chooseLeases({
      process: this.#options.process,
      known: this.#known,
      consumers: usable,
      processes,
      held: [...this.#held.keys()],
      freeFor: this.#freeFor,
    });
  }

  async #acquire(name: string): Promise<void> {
    const { process, limits } = this.#options;
    const warn = (message: string): void => this.#options.warn(`Shard ${this.shard}: ${message}`);
    const askedMs = time.nowMs();
    const consumer = await this.#consumers.acquire(name, process, limits.leaseMs);
    if (consumer === undefined) return;
    const reason = this.#lackFor(consumer);
    if (reason !== undefined) {
      await this.#consumers.release(consumer.lease, { kind: 'waiting', reason });
      return this.#waits(name, reason);
    }
    const run = new LeasedLoop(
      new HeldLease(consumer.lease, askedMs, limits.leaseMs),
      this.#workOf(consumer),
      warn,
    );
    this.#held.set(name, run);
    const ending = run.ended.then((end) => this.#ended(consumer, end));
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
    this.#wakeUp.start();
  }

  /** What this process lacks for a consumer: a part of its stored selection, or the tables to rebuild. */
  #lackFor({ lease, selects, replay }: LeasedConsumer): string | undefined {
    const live = this.#liveOf(lease.name);
    if (live === undefined) return undefined;
    const [missing, ...more] = missingItems(selects, selectionItems(live));
    if (missing !== undefined)
      return (
        `its stored selection has ${[missing, ...more].join(', ')}, which this process does not select: a process of ` +
        `another release continues, or run fw-gen events narrow ${live.name} --without ${missing}`
      );
    if (live.projection !== undefined || replay?.rebuild !== true) return undefined;
    return `handler ${live.name} of this process declares no projection`;
  }

  /** The handler or sink of a consumer: `Name`, or its replay `Name#1a2b3c4d`. */
  #liveOf(name: string): (Consumer & { readonly ofShard: Attempts }) | undefined {
    return this.#live.get(name.split('#', 1)[0] ?? name);
  }

  /** Leaves a consumer to other processes for a while. The same reason is logged once. */
  #waits(name: string, reason: string): void {
    if (this.#waitReasons.get(name) !== reason)
      this.#options.warn(`${name} on shard ${this.shard} waits: ${reason}`);
    this.#waitReasons.set(name, reason);
    this.#leftUntilMs.set(name, time.nowMs() + WAITING_PAUSE_MS);
  }

  #workOf(consumer: LeasedConsumer): (loop: LeasedLoop) => LeasedWork {
    const { warn, database, ownWork, ages } = this.#options;
    const { name } = consumer.lease;
    if (name === ownWork?.name) return (loop) => ownWork.start(loop);
    const live = this.#liveOf(name);
    if (live === undefined) throw new TypeError(`${name} is no consumer of this process`);
    const { replay } = consumer;
    const options: ConsumerRunOptions = {
      consumer,
      attempts: live.ofShard,
      selection: { ...live.selection, ...replay?.selection },
      concurrency: live.concurrency,
      readAhead: live.readAhead,
      rebuild: replay?.rebuild === true ? new Rebuild(name, live.projection ?? []) : undefined,
      ages: replay === undefined ? ages.get(live.name) : undefined,
      context: {
        identity: replay?.identity ?? consumer.identity,
        again: replay?.again,
        replayed: replay !== undefined,
      },
      reader: this.#reader,
      consumers: this.#consumers,
      letters: this.#letters,
      pollMs: () => this.#wakeUp.pollMs,
      warn,
    };
    return (loop) =>
      live.transactional === true
        ? new TransactionalRun(options, new TransactionManager(database), loop)
        : new ConsumerRun(options, loop);
  }

  #handOver(name: string): void {
    this.#leftUntilMs.set(name, time.nowMs() + WAITING_PAUSE_MS);
    void this.#held.get(name)?.stop(HAND_OVER_GRACE_MS);
  }

  async #ended(consumer: LeasedConsumer, end: RunEnd): Promise<void> {
    const { lease } = consumer;
    this.#held.delete(lease.name);
    try {
      if (end.kind === 'superseded') await this.#reportAhead(consumer, end.handled ?? []);
      if (end.kind !== 'lost') await this.#consumers.release(lease, end);
    } catch (error) {
      if (!isClosed(error))
        this.#options.warn(`The lease of ${lease.name} was not released and expires: ${messageOf(error)}`);
    }
    if (end.kind === 'superseded') this.lookAround();
    if (end.kind === 'halted') {
      this.#options.warn(`${lease.name} on shard ${this.shard} has stopped: ${end.reason}`);
    }
    if (end.kind === 'waiting') this.#waits(lease.name, end.reason);
    else this.#waitReasons.delete(lease.name);
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof DriverFailure && error.reason === 'closed';
}
