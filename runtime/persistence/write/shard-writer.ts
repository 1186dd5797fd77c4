import { TransientMap } from '../../collections/transient-map.js';
import { deadlines } from '../../concurrency/deadlines.js';
import { time } from '../../concurrency/time.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { ShardBusyError } from '../../errors.js';
import { DriverFailure } from '../../sharding/driver-failure.js';
import { during } from '../../tracing.js';
import type { FlushOutcome, LockedRows, ShardStore } from '../shard-store.js';
import { BatchBuilder, isDeclaredFoldable } from './batch-builder.js';
import { giveBack, isAboutLocks, isAboutTheServer, LostWrite } from './flush-failure.js';
import {
  forEachRow,
  haveTime,
  isPending,
  type PlanGroup,
  plansIn,
  spanOf,
  touchOneRow,
} from './plan-group.js';
import type { PlanWrite } from './plan-write.js';
import { onAbortOf, QueuedPlan, type QueueOptions, type Sending, type Submission } from './queued-plan.js';
import { RefusedCallers } from './refused-callers.js';
import { WriterCounters, type WriterCounts } from './writer-counters.js';
import { ANSWER_MS, DEFAULT_WRITER_LIMITS, type WriterLimits } from './writer-limits.js';

/**
 * Sends the plans of one shard. A single plan is sent at once. Plans that queue up while statements are in flight share
 * one statement. Plans that depend on one another are folded into one group, which is applied as a whole.
 *
 * A statement that fails or is too large is split, down to single groups. A group that was left out is sent again alone
 * and waits for locks. If it is then stale and touches several rows, it is unfolded and sent plan by plan.
 */
export class ShardWriter {
  readonly #store: ShardStore;
  readonly #shard: ShardIdentifier;
  readonly #limits: WriterLimits;
  readonly #isFoldable: (model: ModelDescriptor) => boolean;
  readonly #soon: (work: () => void) => void;
  #queue: QueuedPlan[] = [];
  /** Groups that a statement has left out, to be sent alone. */
  #alone: PlanGroup[] = [];
  readonly #busyRows = new TransientMap<true>();
  #inFlight = 0;
  #waiting = 0;
  /** Number of plans that the last pass over the queue left there, because they must wait. */
  #heldUp = 0;
  /** Number of plans in the last two statements with new plans. */
  #lastSizes: readonly [number, number] = [0, 0];
  #sending = false;
  #scheduled = false;
  #lookAgain = false;
  /** Whether plans that have left the queue are dropped at the end of this turn. */
  #dropping = false;
  readonly #counters = new WriterCounters();
  readonly #refusedCallers = new RefusedCallers();

  /**
   * @param isFoldable whether several changes of such a row may be written as one
   * @param soon calls back at the end of this turn of the event loop, after all its submissions
   */
  constructor(
    store: ShardStore,
    shard: ShardIdentifier,
    limits: WriterLimits = DEFAULT_WRITER_LIMITS,
    isFoldable: (model: ModelDescriptor) => boolean = isDeclaredFoldable,
    soon: (work: () => void) => void = (work) => time.setImmediate(work),
  ) {
    this.#store = store;
    this.#shard = shard;
    this.#limits = limits;
    this.#isFoldable = isFoldable;
    this.#soon = soon;
  }

  /** Plans waiting to be sent. One that has given up counts until the end of the turn. */
  get queued(): number {
    return this.#alone.reduce((sum, group) => sum + group.length, this.#queue.length);
  }

  get counters(): WriterCounts {
    return { ...this.#counters };
  }

  /** Queues a plan. @throws ShardBusyError if the queue is full */
  submit(plan: PlanWrite, options: QueueOptions): Submission {
    if (this.queued >= this.#limits.maximumQueued) {
      throw new ShardBusyError(this.#shard.toString(), `${this.queued} plans are waiting`);
    }
    const entry = new QueuedPlan(plan, options, this.#overdue);
    entry.pending.onSettled(() => deadlines.forget(entry));
    deadlines.watch(entry);
    for (const other of entry.dependsOn) other.onSettled(this.#lookAtQueue);
    if (this.#refusedCallers.isAlone(plan)) this.#alone.push([entry]);
    else this.#queue.push(entry);
    onAbortOf(entry, this.#aborted);
    if (this.#goesAhead) this.#sendNext();
    else this.#sendSoon();
    return entry;
  }

  /** Whether enough plans wait to keep the server busy during the rest of this turn. */
  get #goesAhead(): boolean {
    // Blocked plans are not checked again for every further plan.
    if (this.#inFlight > 0 || this.#heldUp > 0) return false;
    const [last, beforeLast] = this.#lastSizes;
    return this.#queue.length >= Math.max(this.#limits.aheadFrom, (last + beforeLast) / 2);
  }

  /** Sends the plans of one turn of the event loop together: one response wakes many executions. */
  #sendSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#soon(() => {
      this.#scheduled = false;
      this.#sendNext();
    });
  }

  /** A plan that has been sent may still be applied, so its execution must settle it. */
  readonly #overdue = (entry: QueuedPlan): Error => {
    if (this.#takeBack(entry)) {
      return new DriverFailure('the deadline passed in the queue', { phase: 'not-sent', reason: 'deadline' });
    }
    entry.expired = true;
    const failure = new DriverFailure('no answer before the deadline', { phase: 'in-flight' });
    return entry.sentUnder === undefined ? failure : new LostWrite(entry.sentUnder, failure);
  };

  readonly #aborted = (entry: QueuedPlan): void => {
    if (this.#takeBack(entry)) entry.reject(abortedInQueue());
  };

  /** Removes a plan from the queue or from an unsent statement. False if it has been sent. */
  #takeBack(entry: QueuedPlan): boolean {
    const { sending } = entry;
    if (sending === undefined) this.#dropSoon();
    else if (sending.leave === undefined) {
      // Another plan of the statement has cancelled the wait, and none is sent.
      if (!sending.isTakenBack) return false;
    } else {
      sending.isTakenBack = true;
      sending.leave();
    }
    entry.pending.settle(false);
    return true;
  }

  /** Drops settled plans from the queue: all of one turn at once, because each pass over the queue costs its length. */
  #dropSoon(): void {
    if (this.#dropping) return;
    this.#dropping = true;
    this.#soon(() => {
      this.#dropping = false;
      this.#queue = this.#queue.filter(isPending);
      this.#alone = this.#alone.map((group) => group.filter(isPending));
    });
  }

  /** A pending plan was settled. */
  readonly #lookAtQueue = (): void => {
    this.#heldUp = 0;
    this.#sendNext();
  };

  /**
   * Sends all plans that can be sent. Settling a pending plan may call this while plans are being removed from the queue.
   * That call only requests another pass, so that no plan is taken twice.
   */
  #sendNext(): void {
    this.#lookAgain = true;
    if (this.#sending) return;
    this.#sending = true;
    while (this.#lookAgain) {
      this.#lookAgain = false;
      this.#sendAlone();
      this.#sendBatches();
    }
    this.#sending = false;
  }

  #sendAlone(): void {
    while (this.#waiting < this.#limits.maximumWaiting) {
      const groups = this.#takeAlone();
      if (groups.length === 0) break;
      this.#waiting += 1;
      // If its deadline passed while a plan waited for a lock, its caller could not learn the outcome.
      const mayWait = haveTime(groups.flat(), this.#limits.lockWaitMs + ANSWER_MS);
      this.#start(groups, mayWait ? 'wait' : 'refuse', () => {
        this.#waiting -= 1;
      });
    }
  }

  #sendBatches(): void {
    while (this.#inFlight === 0 || this.#overlaps) {
      const groups = this.#takeBatch();
      if (groups.length === 0) break;
      this.#inFlight += 1;
      this.#lastSizes = [plansIn(groups), this.#lastSizes[0]];
      this.#start(groups, 'skip', () => {
        this.#inFlight -= 1;
      });
    }
  }

  /** Whether enough plans wait for another statement after the one in flight. Blocked plans do not count again. */
  get #overlaps(): boolean {
    if (this.#inFlight >= this.#limits.maximumInFlight) return false;
    const [last] = this.#lastSizes;
    return this.#queue.length - this.#heldUp >= Math.max(this.#limits.overlapFrom, last / 2);
  }

  #start(groups: readonly PlanGroup[], locked: LockedRows, done: () => void): void {
    forEachRow(groups, (row) => this.#busyRows.set(row, true));
    void this.#send(groups, locked).finally(() => {
      forEachRow(groups, (row) => this.#busyRows.delete(row));
      done();
      this.#lookAtQueue();
    });
  }

  /** Takes the first group to be sent alone that need not wait, without plans that can no longer be applied. */
  #takeAlone(): readonly PlanGroup[] {
    let taken: readonly PlanGroup[] = [];
    this.#alone = this.#alone.filter((group) => {
      if (taken.length > 0) return true;
      // A group stays a group, even if its tables have changed.
      const batch = new BatchBuilder(this.#busyRows, () => true);
      const plans = group.filter((entry) => !this.#givesUp(entry));
      if (!plans.every((entry) => batch.tryAdd(entry))) return true;
      taken = batch.groups;
      return false;
    });
    return taken;
  }

  /** Takes plans from the head of the queue. Those that must wait for a row or a pending plan keep their place. */
  #takeBatch(): readonly PlanGroup[] {
    const batch = new BatchBuilder(this.#busyRows, this.#isFoldable);
    const left: QueuedPlan[] = [];
    let heldUp = 0;
    for (const entry of this.#queue) {
      if (batch.size >= this.#limits.maximumBatch) left.push(entry);
      else if (!this.#givesUp(entry) && !batch.tryAdd(entry)) heldUp = left.push(entry);
    }
    this.#queue = left;
    this.#heldUp = heldUp;
    return batch.groups;
  }

  /** Whether a plan can no longer be applied, which is reported. The caller removes it from the queue. */
  #givesUp(entry: QueuedPlan): boolean {
    if (!isPending(entry)) return true;
    if (entry.dependsOn.some(({ state }) => state === 'failed')) {
      entry.pending.settle(false);
      entry.resolve({ kind: 'dependency-failed' });
      return true;
    }
    if (entry.signal?.aborted !== true) return false;
    entry.pending.settle(false);
    entry.reject(abortedInQueue());
    return true;
  }

  async #send(groups: readonly PlanGroup[], locked: LockedRows): Promise<void> {
    const sending: Sending = { isTakenBack: false, leave: undefined };
    let outcomes: readonly FlushOutcome[];
    try {
      outcomes = await this.#flush(groups, locked, sending);
    } catch (error) {
      if (sending.isTakenBack) this.#putBack(groups, locked);
      else await this.#fail(groups, locked, error);
      return;
    }
    this.#reportTogether(() => {
      const batchSize = plansIn(groups);
      groups.forEach((group, index) => {
        const outcome = outcomes[index];
        if (outcome === 'applied') this.#applied(group, batchSize);
      });
      const leftOut = groups.filter((_, index) => outcomes[index] === 'left-out');
      for (const entry of leftOut.flat()) entry.wasLeftOut = true;
      if (locked === 'skip') this.#sendLaterAlone(leftOut);
      else for (const group of leftOut) this.#stale(group);
    });
  }

  /** Dependent plans are looked up once, after all rows are free, instead of once per reported plan. */
  #reportTogether(report: () => void): void {
    this.#sending = true;
    try {
      report();
    } finally {
      this.#sending = false;
    }
  }

  #flush(
    groups: readonly PlanGroup[],
    locked: LockedRows,
    sending: Sending,
  ): Promise<readonly FlushOutcome[]> {
    let deadline = 0;
    for (const group of groups) {
      const leader = group[0]?.plan.action;
      for (const entry of group) {
        entry.sentUnder = leader;
        entry.sending = sending;
        deadline = Math.max(deadline, entry.deadline);
      }
    }
    this.#counters.sent(groups);
    const plans = groups.map((group) => group.map(({ plan }) => plan));
    const request = { groups: plans, locked, maximumCharacters: this.#limits.maximumCharacters };
    const options = { timeoutMs: Math.max(1, deadline - time.nowMs()), place: sending };
    return during(spanOf(groups, this.#shard), () => this.#store.flush(request, options));
  }

  /** Requeues the plans of an unsent statement in front of all others, except cancelled ones. */
  #putBack(groups: readonly PlanGroup[], locked: LockedRows): void {
    const waiting = groups.map((group) => group.filter(isPending));
    this.#counters.sent(groups, -1);
    for (const entry of waiting.flat()) entry.notSent();
    if (locked === 'skip') this.#queue.unshift(...waiting.flat());
    else this.#alone.unshift(...waiting);
  }

  #applied(group: PlanGroup, batchSize: number): void {
    const now = time.nowMs();
    const chainLength = group.length;
    for (const entry of group) {
      this.#refusedCallers.applied(entry.plan);
      entry.pending.settle(true);
      const queuedMs = now - entry.queuedMs;
      entry.resolve({ kind: 'applied', batchSize, chainLength, contended: entry.wasLeftOut, queuedMs });
    }
  }

  /** An expired plan is never sent again: its execution is settling the attempt that it knows about. */
  #sendLaterAlone(groups: readonly PlanGroup[]): void {
    const waiting = groups.map((group) => group.filter(({ expired }) => !expired));
    for (const entry of waiting.flat()) entry.notSent();
    this.#alone.unshift(...waiting);
    for (const { expired, pending } of groups.flat()) if (expired) pending.settle(false);
  }

  /** If all plans of a group touch one row, the version of the first is stale, and the others depend on it. */
  #stale(group: PlanGroup): void {
    const [first, ...others] = group;
    if (first === undefined) return;
    if (others.length > 0 && !touchOneRow(group)) {
      this.#sendLaterAlone(group.map((entry) => [entry]));
      return;
    }
    // The execution of the first plan is notified first, so that all of them back off from the row together.
    first.resolve({ kind: 'stale' });
    for (const other of others) other.resolve({ kind: 'dependency-failed' });
    for (const { pending } of group) pending.settle(false);
  }

  async #fail(groups: readonly PlanGroup[], locked: LockedRows, error: unknown): Promise<void> {
    const [group = []] = groups;
    if (isAboutTheServer(error)) {
      this.#reportTogether(() => {
        for (const entry of groups.flat()) giveBack(entry, error);
      });
    } else if (groups.length > 1) {
      this.#counters.splits += 1;
      const middle = Math.ceil(groups.length / 2);
      await this.#send(groups.slice(0, middle), locked);
      await this.#send(groups.slice(middle), locked);
    } else {
      this.#refused(group, error);
    }
  }

  /** Handles a group that the database refuses alone: its plans are sent one by one. */
  #refused(group: PlanGroup, error: unknown): void {
    if (group.length > 1 && !(isAboutLocks(error) && touchOneRow(group))) {
      this.#counters.splits += 1;
      this.#sendLaterAlone(group.map((entry) => [entry]));
      return;
    }
    for (const entry of group) entry.reject(error);
    for (const { plan } of group) this.#refusedCallers.refused(plan, error);
    for (const { pending } of group) pending.settle(false);
  }
}

function abortedInQueue(): DriverFailure {
  return new DriverFailure('aborted in the queue', { phase: 'not-sent', reason: 'aborted' });
}
