import type { StagedItem } from '../action/action-plan.js';
import type { ExecutionEnvironment } from '../concurrency/execution-environment.js';
import { AbortedError } from '../errors.js';
import { partsToJson } from '../persistence/journal/journal-entry.js';
import { allApplied, type PendingPlan } from '../persistence/write/pending-plan.js';
import type { PartWrite, PlanWrite } from '../persistence/write/plan-write.js';
import { endSpan, endWith, type Span, startInner, traceIds, within } from '../tracing.js';
import { requireOneShard, requireVersion } from './admission.js';
import type { AttemptResult, Completed, PartResult, Retry } from './attempt.js';
import { Contention, checkedRows } from './contention/contention.js';
import { applyParts } from './cross-shard/cross-shard-plan.js';
import { isLostRead, isPassing, staleError } from './execution-errors.js';
import type { ExecutionContext, ExecutionRequest } from './execution-request.js';
import { requireKeys } from './keys/planned-keys.js';
import { takenMeanwhile } from './keys/taken-key.js';
import { codeOf } from './observed-executions.js';
import { isPromise, PerformRun } from './perform/perform-run.js';
import { requireReplay } from './perform/require-replay.js';
import type { KeyTakers } from './perform/staged-states.js';
import { attemptPauseMs, FREE_ENDS, LEAST_MS, MAXIMUM_FREE_ATTEMPTS } from './retry-policy.js';
import { isEmpty, type PlannedSchedules, type PlanPart, routePlan, withSchedules } from './routing.js';
import type { ShardGateways } from './shard-gateways.js';
import { type SentPart, sendPart, shardTransaction } from './shard-transaction.js';
import { Tally } from './tally.js';
import { TimeLimit } from './time-limit.js';

/** One call of `execute`: makes attempts until one is applied or refused, or a limit is reached. */
export class Execution<Params, Result> {
  readonly #request: ExecutionRequest<Params, Result>;
  readonly #context: ExecutionContext;
  readonly #gateways: ShardGateways;
  readonly #environment: ExecutionEnvironment;
  readonly #tally: Tally;
  readonly #contention: Contention;
  #attempt = 0;
  #freeAttempts = 0;
  /** Whether the next attempt reads committed states only. */
  #readsCommitted = false;
  /** Whether other executions cannot start from what the attempt has sent. */
  #isHidden = false;
  /** The run of the present attempt. */
  #performed: PerformRun | undefined;
  readonly #limit: TimeLimit;
  /** Values of the last attempt for a natural key that another model held. */
  #wanted: string | undefined;
  #paramsJson: string | undefined;
  /** That of the attempt, if it is not the first. */
  #span: Span | undefined;

  constructor(request: ExecutionRequest<Params, Result>, context: ExecutionContext) {
    const { gateways, environment, rowContention } = context;
    this.#request = request;
    this.#span = request.span;
    this.#context = context;
    this.#gateways = gateways;
    this.#environment = environment;
    this.#limit = new TimeLimit(request, environment);
    const { action, configuration } = request;
    this.#tally = new Tally(configuration.onReport && { action: action.name, environment });
    this.#contention = new Contention({
      turns: gateways.turns,
      rowContention,
      params: request.params,
      chaining: configuration.chaining,
    });
  }

  async run(): Promise<Result> {
    let failure: unknown;
    const { guard } = this.#request;
    this.#context.running.begin();
    try {
      if (guard?.isLikelyRepeat === true) {
        const replay = await guard.lookUp();
        if (replay !== undefined) return await this.#replayedIfAllowed(replay.result);
      }
      for (let retriedFor: string | undefined; ; ) {
        this.#attempt += 1;
        this.#limit.check();
        this.#tally.begin();
        const outcome = await this.#try(retriedFor);
        if (outcome.kind === 'done') return outcome.result;
        this.#tally.retried(outcome.end);
        retriedFor = outcome.end;
        // With the same values again, fresh reads have already shown the holder to an action that looks it up: final.
        if (outcome.wanted !== undefined && outcome.wanted === this.#wanted) throw outcome.error;
        this.#wanted = outcome.wanted;
        if (outcome.end !== 'superseded' && outcome.end !== 'unconfirmed') this.#limit.lost = outcome.error;
        if (!this.#isFree(outcome)) await this.#pause(outcome);
      }
    } catch (error) {
      let end = error;
      try {
        const replay = guard === undefined ? undefined : await guard.lookAgain(error);
        if (replay !== undefined) return await this.#replayedIfAllowed(replay.result);
      } catch (later) {
        end = later;
      }
      // Undefined would count as success.
      failure = end ?? String(end);
      throw end;
    } finally {
      this.#context.running.end();
      this.ended(failure);
    }
  }

  /** Counts, logs and reports the end. Called by others only if it never runs. @param failure undefined after success */
  ended(failure: unknown): void {
    this.#context.observed.ended(this.#request, this.#tally, failure);
    endSpan(this.#request.span, failure);
    this.#tally.notify(this.#request.configuration.onReport, codeOf(failure));
  }

  #try(retriedFor: string | undefined): Promise<AttemptResult<Result>> {
    const span = retriedFor && startInner(this.#request.span, 'attempt', { 'fw.retry.reason': retriedFor });
    if (span) this.#span = span;
    const outcome = this.#contention.begin()
      ? this.#runInTurn()
      : this.#prepare().then(({ outcome }) => outcome);
    return span ? endWith(span, outcome) : outcome;
  }

  /** Runs an attempt that may have to wait for other executions of its rows. */
  async #runInTurn(): Promise<AttemptResult<Result>> {
    const sealed = await this.#contention.enter((others) => this.#limit.wait(others));
    try {
      this.#limit.check();
      const { outcome } = await this.#prepare();
      // Waiting executions start from the staged state. If they cannot see it, they must wait until it is stored.
      if (!this.#isHidden) sealed();
      return await outcome;
    } finally {
      sealed();
    }
  }

  /** Runs `perform` and seals its plan. Everything after the seal happens in the same turn of the event loop. */
  async #prepare(): Promise<{ readonly outcome: Completed<Result> }> {
    const { action, principal, params } = this.#request;
    const startedDate = this.#environment.clock.now();
    const run = this.#newRun();
    this.#performed = run;
    this.#isHidden = false;
    try {
      const work = within(this.#span, () => run.start(action, principal, params));
      const result = isPromise(work) ? await this.#limit.within(Promise.resolve(work)) : work;
      run.reads.span?.end();
      run.access?.require();
      return { outcome: this.#seal(run, result, startedDate) };
    } catch (error) {
      run.reads.span?.end(error);
      this.#tally.performed(startedDate, this.#environment.clock.now());
      const shown = run.access?.shown(error) ?? error;
      return { outcome: this.#whenApplied(run, () => this.#refused(run, shown)) };
    }
  }

  /** Seals the plan and sends it, unless it must wait or cannot be applied. */
  #seal(run: PerformRun, result: Result, startedDate: Date): Completed<Result> {
    const staged = run.seal();
    requireVersion(staged, this.#request.configuration);
    requireKeys(run.plan.keyed?.items);
    if (this.#isGuess && (staged.length === 0 || !run.isProvable)) return this.#unproven();
    const proofs = run.proofs();
    const items = proofs.length === 0 ? staged : [...staged, ...proofs];
    const parts = this.#route(items, run.plan);
    const [part] = parts;
    // No single statement can prove the remembered states.
    if (this.#isGuess && parts.length > 1) return this.#unproven();
    if (part === undefined || (isEmpty(part) && run.reads.dependencies.length > 0)) {
      this.#tally.performed(startedDate, this.#environment.clock.now());
      return this.#whenApplied(run, () => this.#readOnly(run, result));
    }
    const superseded = items.filter((item) => this.#gateways.staged.isSuperseded(item));
    if (superseded.length > 0) {
      this.#contention.superseded(superseded);
      return this.#retry('superseded');
    }
    if (this.#contention.isHeld(items)) return { ...this.#retry('superseded'), rows: checkedRows(items) };
    const takers = this.#gateways.staged.keyTakers(run.plan.keyed?.items);
    if (takers !== undefined) return this.#whenApplied(run, () => this.#afterTakers(items, takers));
    const home = this.#request.guard?.home ?? part.shard;
    if (parts.length > 1 || run.reads.dependsOnAnother(part.shard) || home !== part.shard) {
      // It must wait: for another shard's commit, for its key's home, or for its first shard transaction.
      this.#isHidden = true;
      return this.#whenApplied(run, () =>
        this.#whenSent(this.#persistDetached(parts, startedDate, result), result, items),
      );
    }
    const sent = this.#sendVisibly(part, startedDate, result, run);
    this.#isHidden = !run.reads.chaining;
    return this.#whenSent(sent, result, items);
  }

  /** A refusal of values that follow from remembered states may be due to these. */
  #whenSent(sent: Promise<PartResult>, result: Result, items: readonly StagedItem[]): Completed<Result> {
    return sent.then(
      (part) => this.#finish(part, result, items),
      (error: unknown) => {
        if (this.#isGuess && !isPassing(error)) return this.#unproven();
        throw error;
      },
    );
  }

  /** Reports no outcome before the dependencies, whose staged states the run has read, are known to be applied. */
  async #whenApplied({ reads }: PerformRun, end: () => Completed<Result>): Promise<AttemptResult<Result>> {
    return (await this.#settled(reads.dependencies)) ? end() : this.#retry('dependency-failed');
  }

  /** `perform` threw, or its plan is refused. */
  #refused({ reads }: PerformRun, error: unknown): Retry {
    if (isLostRead(error)) return { kind: 'retry', end: 'lost', error };
    if (isPassing(error)) throw error;
    if (reads.dependencies.length > 0) return this.#readCommitted();
    if (this.#isGuess) return this.#unproven();
    throw error;
  }

  #readOnly({ reads }: PerformRun, result: Result): AttemptResult<Result> {
    if (reads.dependencies.length > 0) return this.#readCommitted();
    this.#tally.ended('nothing-staged');
    return { kind: 'done', result };
  }

  /** Pending plans hold natural keys that this plan takes. */
  async #afterTakers(items: readonly StagedItem[], { dependencies, constraint }: KeyTakers): Promise<Retry> {
    const areApplied = await this.#settled(dependencies);
    return takenMeanwhile(items, constraint, areApplied, this.#wanted) ?? this.#retry('superseded');
  }

  #newRun(): PerformRun {
    const { action, configuration, reach } = this.#request;
    const chaining = configuration.chaining && !this.#readsCommitted;
    this.#readsCommitted = false;
    return new PerformRun({
      actionName: action.name,
      clock: this.#environment.clock,
      signal: configuration.signal,
      remainingMs: () => this.#limit.remainingMs(),
      staged: this.#gateways.staged,
      defaultShard: this.#gateways.defaultShard,
      chaining,
      remembered: this.#gateways.remembered,
      guessing: this.#attempt === 1 && this.#freeAttempts === 0,
      reach,
      span: this.#span,
      log: this.#context.log,
      logged: () => traceIds(this.#span, configuration.traceContext),
    });
  }

  get #isGuess(): boolean {
    return this.#performed !== undefined && this.#performed.reads.guesses.size > 0;
  }

  #sendVisibly(part: PlanPart, startedDate: Date, result: Result, run: PerformRun): Promise<PartResult> {
    const write = this.#planWrite(part, startedDate, result);
    const { pending, result: partResult } = this.#send({ shard: part.shard, write }, run.reads.dependencies);
    run.publish(part.items, pending, part.shard);
    return partResult;
  }

  #finish(part: PartResult, result: Result, items: readonly StagedItem[]): Completed<Result> {
    if (part.kind === 'retry') return part.end === 'stale' && this.#isGuess ? this.#unproven(true) : part;
    if (part.kind === 'replayed') {
      this.#tally.ended('key-taken');
      // Nothing has proven what this attempt has read.
      return this.#replayedIfAllowed(part.replay.result).then((first) => ({ kind: 'done', result: first }));
    }
    this.#contention.won(items, part.contended === true);
    this.#performed?.applied(items);
    this.#tally.ended('applied', part.write);
    return { kind: 'done', result };
  }

  #route(items: readonly StagedItem[], plan: PlannedSchedules): readonly PlanPart[] {
    const { action, configuration, guard } = this.#request;
    const { defaultShard } = this.#gateways;
    // A key must be stored even if the plan is empty: a repeat must return the same result.
    const kept = items.length === 0 && guard !== undefined ? [{ shard: guard.home, items: [] }] : [];
    const parts = withSchedules([...kept, ...routePlan(items, defaultShard)], plan, defaultShard);
    if (parts.length === 0) return parts;
    // Refuses an unknown shard before the first write on any other.
    for (const { shard } of parts) this.#gateways.gateway(shard);
    requireOneShard(action.name, parts, configuration);
    return parts;
  }

  async #persistDetached(parts: readonly PlanPart[], startedDate: Date, result: Result): Promise<PartResult> {
    const [part] = parts;
    if (parts.length > 1 || part === undefined) return this.#persistParts(parts, startedDate);
    const { guard } = this.#request;
    const write = this.#planWrite(part, startedDate, result);
    const send = (): Promise<PartResult> => this.#send({ shard: part.shard, write }, []).result;
    if (guard === undefined || write.key === undefined) return send();
    return guard.sendAnnounced(write.key, write.action.id, send);
  }

  /** Creates all action ids before the first shard transaction is sent, because the journal stores them. */
  #persistParts(parts: readonly PlanPart[], startedDate: Date): Promise<PartResult> {
    const writes = parts.map((part) => ({ shard: part.shard, write: this.#planWrite(part, startedDate) }));
    return applyParts({
      actionName: this.#request.action.name,
      parts: writes,
      partsJson: partsToJson(
        writes.map(({ write }) => write),
        this.#gateways.events,
      ),
      send: (part, mayAbort) => this.#send(part, [], mayAbort).result,
      journalOf: (shard) => this.#gateways.gateway(shard).journal,
      remainingMs: () => this.#limit.remainingMs(),
    });
  }

  #send(part: PartWrite, dependsOn: readonly PendingPlan[], mayAbort = true): SentPart {
    const { configuration, deadline, guard } = this.#request;
    this.#tally.sent(part.write.action);
    return sendPart(part, {
      gateways: this.#gateways,
      environment: this.#environment,
      deadline,
      signal: mayAbort ? configuration.signal : undefined,
      dependsOn,
      guard,
      span: this.#span,
    });
  }

  #planWrite(part: PlanPart, startedDate: Date, result?: Result): PlanWrite {
    const { params, writeParams, guard } = this.#request;
    this.#paramsJson ??= writeParams?.(params);
    return shardTransaction(this.#request, part, {
      startedDate,
      completedDate: this.#environment.clock.now(),
      params: this.#paramsJson,
      key: guard?.claim(part.shard, result),
    });
  }

  async #replayedIfAllowed(result: unknown): Promise<Result> {
    this.#readsCommitted = true;
    await requireReplay(this.#request, result, () => this.#newRun());
    this.#tally.isReplayed = true;
    return result as Result;
  }

  /** True once all dependencies are known to be applied. */
  #settled(plans: readonly PendingPlan[]): Promise<boolean> | boolean {
    if (plans.every(({ state }) => state === 'applied')) return true;
    return this.#limit.within(allApplied(plans));
  }

  #retry(end: Retry['end']): Retry {
    return { kind: 'retry', end, error: staleError(this.#request) };
  }

  /**
   * The result of a plan without writes must not depend on staged states, because no version check protects it. They
   * are committed by now, but another process may have read them, changed the rows again and answered before.
   */
  #readCommitted(): Retry {
    this.#readsCommitted = true;
    return this.#retry('unconfirmed');
  }

  /** No statement has proven the remembered states of the attempt: the next one reads. */
  #unproven(isStale = false): Retry {
    this.#performed?.unproven(isStale);
    return this.#retry('unconfirmed');
  }

  /** Whether the attempt does not count: the next one starts as soon as its rows may be read. */
  #isFree({ end, rows }: Retry): boolean {
    if (!FREE_ENDS.has(end) || this.#freeAttempts >= MAXIMUM_FREE_ATTEMPTS) return false;
    this.#freeAttempts += 1;
    this.#attempt -= 1;
    if (rows !== undefined) this.#contention.held(rows);
    return true;
  }

  /** Pauses before the next attempt, except for a row left to another process, which has its own pause. */
  async #pause({ end, rows, error, leastMs = LEAST_MS }: Retry): Promise<void> {
    const { maximumAttempts, configuration } = this.#request;
    const { random, sleep } = this.#environment;
    const leftMs = end === 'stale' && rows !== undefined ? this.#contention.stale(rows, !this.#isHidden) : 0;
    const pauseMs = leftMs > 0 ? leftMs : attemptPauseMs(this.#attempt, random());
    if (this.#attempt >= maximumAttempts || this.#limit.remainingMs() <= pauseMs + leastMs) throw error;
    this.#tally.paused(pauseMs);
    if (leftMs > 0) return;
    try {
      await sleep(pauseMs, configuration.signal);
    } catch (cause) {
      throw new AbortedError('The execution was aborted between two attempts', { cause });
    }
  }
}
