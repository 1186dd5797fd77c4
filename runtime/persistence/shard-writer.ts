import type { ModelDescriptor } from '../domain/descriptor.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { ShardBusyError } from '../errors.js';
import { deadlines, type Wait } from '../sharding/deadlines.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { sqlStateMeaning } from '../sharding/sql-state.js';
import { BatchBuilder, type PlanGroup } from './batch-builder.js';
import { Link } from './link.js';
import { LostWrite } from './lost-write.js';
import type { PlanWrite } from './plan-write.js';
import { type QueuedPlan, touchesOf, type WriteOutcome } from './queued-plan.js';
import type { FlushOutcome, FlushRequest, ShardStore } from './shard-store.js';

/** Bounds of one shard's writer. */
export interface WriterLimits {
  /** Plans that may wait; beyond, a plan is refused at once as busy. Default 10,000. */
  readonly maximumQueued: number;
  /** Statements with fresh plans on their way at a time. Default 2. */
  readonly maximumInFlight: number;
  /**
   * While a statement is on its way, another one is sent only if so many plans wait: fewer and larger statements cost
   * less on both sides, and over a network a full one need not wait. Default 64.
   */
  readonly overlapFrom: number;
  /** Statements that wait for a locked row at a time, one plan each. Default 4. */
  readonly maximumWaiting: number;
  /** Plans in one statement. Default 128. */
  readonly maximumBatch: number;
  /** How long a session waits for a locked row, in milliseconds. Default 400. */
  readonly lockWaitMs: number;
}

export const DEFAULT_WRITER_LIMITS: WriterLimits = Object.freeze({
  maximumQueued: 10_000,
  maximumInFlight: 2,
  overlapFrom: 64,
  maximumWaiting: 4,
  maximumBatch: 128,
  lockWaitMs: 400,
});

/** Time that must be left after a wait for a lock, to hear how it ended, in milliseconds. */
const ANSWER_MS = 100;

/** Limits and ties of one submission. */
export interface SubmitOptions {
  /** Milliseconds from now until the outcome must be there. */
  readonly timeoutMs: number;
  /** Takes the plan out of the queue; once it has been sent its true outcome is reported. */
  readonly signal?: AbortSignal | undefined;
  /** Links whose staged state the plan has read. Default none. */
  readonly restsOn?: readonly Link[];
}

/** A plan in the queue. */
export interface Submission {
  /** Others may rest on it. Settled by the writer, except when the outcome is a `LostWrite`. */
  readonly link: Link;
  /**
   * @throws LostWrite if it was sent and no answer came: the execution settles it, and then its link
   * @throws DriverFailure if it was answered with an error or was never sent
   */
  readonly outcome: Promise<WriteOutcome>;
}

/** What a writer has done since it was made. */
export interface WriterCounters {
  readonly statements: number;
  readonly plans: number;
  readonly folded: number;
  readonly splits: number;
}

/**
 * Sends the plans of one shard. Alone, a plan goes at once; what queues up while statements are in flight is sent as
 * one statement. Plans that rest on one another are folded into one group, which is applied as a whole. A statement
 * that fails is split until the guilty plan stands alone; a group that was left out is unfolded and sent link by link,
 * each waiting for locks, which tells a stale version from a row that was merely locked.
 */
export class ShardWriter {
  readonly #store: ShardStore;
  readonly #shard: ShardIdentifier;
  readonly #limits: WriterLimits;
  readonly #isFoldable: (model: ModelDescriptor) => boolean;
  #queue: QueuedPlan[] = [];
  readonly #busyKeys = new Set<string>();
  #inFlight = 0;
  #waiting = 0;
  #sending = false;
  #lookAgain = false;
  readonly #counters = { statements: 0, plans: 0, folded: 0, splits: 0 };

  /** @param isFoldable whether several changes of such a row may be written as one */
  constructor(
    store: ShardStore,
    shard: ShardIdentifier,
    limits: WriterLimits = DEFAULT_WRITER_LIMITS,
    isFoldable: (model: ModelDescriptor) => boolean = ({ folding }) => folding !== false,
  ) {
    this.#store = store;
    this.#shard = shard;
    this.#limits = limits;
    this.#isFoldable = isFoldable;
  }

  /** Plans that wait to be sent. */
  get queued(): number {
    return this.#queue.length;
  }

  get counters(): WriterCounters {
    return { ...this.#counters };
  }

  /** Queues a plan; it is sent when its turn comes. @throws ShardBusyError if the queue is full */
  submit(plan: PlanWrite, options: SubmitOptions): Submission {
    if (this.#queue.length >= this.#limits.maximumQueued) {
      throw new ShardBusyError(this.#shard.toString(), `${this.#queue.length} plans are waiting`);
    }
    const link = new Link();
    const outcome = new Promise<WriteOutcome>((resolve, reject) => {
      const entry = queueEntry(plan, link, options, { resolve, reject }, this.#isFoldable);
      const wait: Wait = { deadline: entry.deadline, expire: () => reject(this.#expire(entry)) };
      link.onSettled(() => deadlines.forget(wait));
      deadlines.watch(wait);
      for (const other of entry.restsOn) other.onSettled(() => this.#sendNext());
      this.#queue.push(entry);
    });
    this.#sendNext();
    return { link, outcome };
  }

  /** A plan that has been sent may yet be applied, and its execution must settle that. */
  #expire(entry: QueuedPlan): Error {
    if (entry.sentUnder !== undefined) {
      entry.expired = true;
      return new LostWrite(
        entry.sentUnder,
        new DriverFailure('no answer before the deadline', { phase: 'in-flight' }),
      );
    }
    this.#queue = this.#queue.filter((queued) => queued !== entry);
    entry.link.settle(false);
    return new DriverFailure('the deadline passed in the queue', { phase: 'not-sent', reason: 'deadline' });
  }

  /**
   * Sends what can be sent. Settling a link may call back here while plans are being taken out of the queue; then the
   * queue is looked at once more at the end, so that no plan is taken twice.
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
      const entry = this.#takeAlone();
      if (entry === undefined) break;
      this.#waiting += 1;
      this.#start([[entry]], this.#hasTimeToWait(entry) ? 'wait' : 'skip', () => {
        this.#waiting -= 1;
      });
    }
  }

  /** A plan that still waited for a lock when its time was up would leave its caller without knowing the outcome. */
  #hasTimeToWait({ deadline }: QueuedPlan): boolean {
    return deadline - performance.now() > this.#limits.lockWaitMs + ANSWER_MS;
  }

  #sendBatches(): void {
    const { maximumInFlight, overlapFrom } = this.#limits;
    while (this.#inFlight === 0 || (this.#inFlight < maximumInFlight && this.#queue.length >= overlapFrom)) {
      const groups = this.#takeBatch();
      if (groups.length === 0) break;
      this.#inFlight += 1;
      this.#start(groups, 'skip', () => {
        this.#inFlight -= 1;
      });
    }
  }

  #start(groups: readonly PlanGroup[], locked: FlushRequest['locked'], done: () => void): void {
    const keys = groups.flat().flatMap(({ touches }) => touches.map(({ key }) => key));
    for (const key of keys) this.#busyKeys.add(key);
    void this.#send(groups, locked).finally(() => {
      for (const key of keys) this.#busyKeys.delete(key);
      done();
      this.#sendNext();
    });
  }

  /** Takes the first plan that is to be sent by itself and need not wait for a row or a link here. */
  #takeAlone(): QueuedPlan | undefined {
    if (!this.#queue.some(({ alone }) => alone)) return undefined;
    let taken: QueuedPlan | undefined;
    this.#queue = this.#queue.filter((entry) => {
      if (taken !== undefined || !entry.alone) return true;
      if (this.#givesUp(entry)) return false;
      if (!new BatchBuilder(this.#busyKeys).tryAdd(entry)) return true;
      taken = entry;
      return false;
    });
    return taken;
  }

  /** Takes plans from the head of the queue; those that have to wait for a row or a link keep their place. */
  #takeBatch(): readonly PlanGroup[] {
    const batch = new BatchBuilder(this.#busyKeys);
    const left: QueuedPlan[] = [];
    for (const entry of this.#queue) {
      if (batch.size >= this.#limits.maximumBatch || entry.alone) left.push(entry);
      else if (!this.#givesUp(entry) && !batch.tryAdd(entry)) left.push(entry);
    }
    this.#queue = left;
    return batch.groups;
  }

  /** Tells a plan that cannot be applied any more. Its place in the queue is given up by the caller. */
  #givesUp(entry: QueuedPlan): boolean {
    if (entry.restsOn.some(({ state }) => state === 'failed')) {
      entry.link.settle(false);
      entry.resolve({ kind: 'broken' });
      return true;
    }
    if (entry.signal?.aborted !== true) return false;
    entry.link.settle(false);
    entry.reject(new DriverFailure('aborted in the queue', { phase: 'not-sent', reason: 'aborted' }));
    return true;
  }

  async #send(groups: readonly PlanGroup[], locked: FlushRequest['locked']): Promise<void> {
    let outcomes: readonly FlushOutcome[];
    try {
      outcomes = await this.#flush(groups, locked);
    } catch (error) {
      await this.#fail(groups, locked, error);
      return;
    }
    const batchSize = groups.reduce((sum, group) => sum + group.length, 0);
    groups.forEach((group, index) => {
      if (outcomes[index] === 'applied') this.#applied(group, batchSize);
    });
    const leftOut = groups.filter((_, index) => outcomes[index] !== 'applied');
    // Each goes to the head of the queue, so the one that has waited longest goes there last.
    for (const group of leftOut.reverse()) this.#leftOut(group, locked);
  }

  #flush(groups: readonly PlanGroup[], locked: FlushRequest['locked']): Promise<readonly FlushOutcome[]> {
    let deadline = 0;
    for (const group of groups) {
      const leader = group[0]?.plan.action;
      this.#counters.plans += group.length;
      this.#counters.folded += group.length - 1;
      for (const entry of group) {
        entry.sentUnder = leader;
        deadline = Math.max(deadline, entry.deadline);
      }
    }
    this.#counters.statements += 1;
    const request = { groups: groups.map((group) => group.map(({ plan }) => plan)), locked };
    return this.#store.flush(request, { timeoutMs: Math.max(1, deadline - performance.now()) });
  }

  #applied(group: PlanGroup, batchSize: number): void {
    const now = performance.now();
    for (const { link, resolve, queuedMs } of group) {
      link.settle(true);
      resolve({ kind: 'applied', batchSize, chainLength: group.length, queuedMs: now - queuedMs });
    }
  }

  #leftOut(group: PlanGroup, locked: FlushRequest['locked']): void {
    const [entry] = group;
    if (entry === undefined || group.length > 1 || (locked === 'skip' && !entry.alone)) {
      this.#requeueAlone(group);
      return;
    }
    entry.link.settle(false);
    entry.resolve({ kind: 'stale' });
  }

  /** An expired plan is never sent again: its execution is settling the attempt that it knows about. */
  #requeueAlone(group: PlanGroup): void {
    const waiting = group.filter(({ expired }) => !expired);
    for (const entry of waiting) {
      entry.alone = true;
      entry.sentUnder = undefined;
    }
    this.#queue.unshift(...waiting);
    for (const { expired, link } of group) if (expired) link.settle(false);
  }

  async #fail(groups: readonly PlanGroup[], locked: FlushRequest['locked'], error: unknown): Promise<void> {
    const [group = []] = groups;
    if (error instanceof DriverFailure && isAboutTheServer(error)) {
      for (const entry of groups.flat()) giveBack(entry, error);
    } else if (groups.length > 1) {
      this.#counters.splits += 1;
      const middle = Math.ceil(groups.length / 2);
      await this.#send(groups.slice(0, middle), locked);
      await this.#send(groups.slice(middle), locked);
    } else if (group.length > 1) {
      this.#counters.splits += 1;
      this.#requeueAlone(group);
    } else {
      for (const { link, reject } of group) {
        link.settle(false);
        reject(error);
      }
    }
  }
}

/** Whether no plan is guilty, so that sending fewer of them would not help. */
function isAboutTheServer({ phase, sqlState }: DriverFailure): boolean {
  if (phase !== 'answered' || sqlState === undefined) return phase !== 'answered';
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'unavailable' || meaning === 'saturated';
}

/** Whether a plan that was in flight has been applied is for its execution to find out; its link waits for that. */
function giveBack(entry: QueuedPlan, failure: DriverFailure): void {
  if (failure.phase === 'in-flight' && entry.sentUnder !== undefined) {
    entry.reject(new LostWrite(entry.sentUnder, failure));
    return;
  }
  entry.link.settle(false);
  entry.reject(failure);
}

function queueEntry(
  plan: PlanWrite,
  link: Link,
  { timeoutMs, signal, restsOn = [] }: SubmitOptions,
  settlers: Pick<QueuedPlan, 'resolve' | 'reject'>,
  isFoldable: (model: ModelDescriptor) => boolean,
): QueuedPlan {
  const queuedMs = performance.now();
  return {
    plan,
    touches: touchesOf(plan, isFoldable),
    link,
    restsOn,
    deadline: queuedMs + timeoutMs,
    signal,
    queuedMs,
    alone: false,
    expired: false,
    sentUnder: undefined,
    ...settlers,
  };
}
