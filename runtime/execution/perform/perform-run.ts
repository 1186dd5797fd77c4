import { AccessCheck } from '../../action/access-check.js';
import { ruleOf } from '../../action/access-rule.js';
import { startPerform } from '../../action/action.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import { ActionPlan, type StagedItem } from '../../action/action-plan.js';
import {
  type LoadModel,
  type PerformScope,
  type ReadRow,
  runInPerformScope,
} from '../../action/perform-scope.js';
import type { Reach } from '../../action/tenancy.js';
import type { Clock } from '../../domain/clock.js';
import { descriptorOf, type Entity, rowKey, rowOf } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import { type Logger, SILENT, withFacts } from '../../domain/logger.js';
import { heldKeys, type KeyLookup } from '../../domain/natural-key.js';
import type { KnownPrincipal } from '../../domain/principal.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { allApplied, type PendingPlan } from '../../persistence/write/pending-plan.js';
import { requireReach } from '../admission.js';
import type { RememberedModels } from './remembered-models.js';
import type { StagedState, StagedStates } from './staged-states.js';

export interface PerformRunOptions {
  readonly actionName: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly remainingMs: () => number;
  readonly staged: StagedStates;
  readonly defaultShard: ShardIdentifier;
  /** Whether the run may read states that other executions have staged. */
  readonly chaining: boolean;
  /** Receives the states that are read. Default: none. */
  readonly remembered?: RememberedModels | undefined;
  /** Whether the run may start from remembered states. Default false. */
  readonly guessing?: boolean | undefined;
  /** The groups of shards that the principal may reach. Default: all. */
  readonly reach?: Reach | undefined;
  /** Default: entries are discarded. */
  readonly log?: Logger | undefined;
  /** Facts of each entry, apart from the action. */
  readonly logged?: (() => object) | undefined;
}

const NO_GUESSES: ReadonlyMap<string, Entity> = new Map();
const NO_DEPENDENCIES: readonly PendingPlan[] = Object.freeze([]);

/** One run of `perform`: its plan, and the dependencies whose staged states it has read. */
export class PerformRun implements PerformScope {
  readonly actionName: string;
  readonly plan: ActionPlan;
  readonly signal: AbortSignal | undefined;
  readonly remainingMs: () => number;
  readonly reach: Reach | undefined;
  readonly #options: PerformRunOptions;
  readonly #staged: StagedStates;
  readonly #remembered: RememberedModels | undefined;
  /** By pending plan, with the shard of its models. Created with the first one. */
  #dependencies: Map<PendingPlan, ShardIdentifier> | undefined;
  #chaining: boolean;
  /** Remembered states that it has read, by row. Created with the first one. */
  #guesses: Map<string, Entity> | undefined;
  #isPublished = false;
  #log: Logger | undefined;
  #access: AccessCheck | undefined;

  constructor(options: PerformRunOptions) {
    this.actionName = options.actionName;
    this.plan = new ActionPlan(options.clock, options.defaultShard);
    this.signal = options.signal;
    this.remainingMs = options.remainingMs;
    this.reach = options.reach;
    this.#options = options;
    this.#staged = options.staged;
    this.#remembered = options.remembered;
    this.#chaining = options.chaining;
  }

  get log(): Logger {
    const { log = SILENT, logged } = this.#options;
    this.#log ??= withFacts(log, { action: this.actionName, ...logged?.() });
    return this.#log;
  }

  /** Pending plans that this run depends on. Its result is reported after their outcomes are known. */
  get dependencies(): readonly PendingPlan[] {
    return this.#dependencies === undefined ? NO_DEPENDENCIES : [...this.#dependencies.keys()];
  }

  /** Remembered states that this run has read, by row. Its outcome must prove each of them. */
  get guesses(): ReadonlyMap<string, Entity> {
    return this.#guesses ?? NO_GUESSES;
  }

  /** A version check for each guess that the plan does not stage; they must be part of its own statement. */
  proofs(): readonly StagedItem[] {
    const proofs: StagedItem[] = [];
    for (const model of this.guesses.values()) {
      if (this.plan.isStaged(model)) continue;
      const descriptor = descriptorOf(model);
      proofs.push({ kind: 'expect', descriptor, model, expectedVersion: model.version, guess: model });
    }
    return proofs;
  }

  /** Shows the staged states of its plan, which was sent, to other executions. */
  publish(items: readonly StagedItem[], pending: PendingPlan, shard: ShardIdentifier): void {
    if (!this.#chaining) return;
    this.#isPublished = true;
    this.#staged.publish(items, pending, shard);
  }

  /** Called when its plan is applied. A proof costs more than a read, as plans that expect a row wait for each other. */
  applied(items: readonly StagedItem[]): void {
    for (const model of this.guesses.values()) {
      if (this.plan.isStaged(model)) this.#remembered?.proven(this.actionName, model);
      else this.#remembered?.failed(this.actionName, model, false);
    }
    if (this.#isPublished) return;
    // No other execution has seen the states, so nothing has replaced the remembered ones.
    for (const { model } of items) this.#remembered?.drop(rowOf(model));
  }

  /** Called when its guesses were of no use. @param isStale whether a version had changed */
  unproven(isStale: boolean): void {
    for (const model of this.guesses.values()) this.#remembered?.failed(this.actionName, model, isStale);
  }

  /**
   * Whether other executions may read its staged states. False after a query, whose result no version check protects.
   */
  get chaining(): boolean {
    return this.#chaining;
  }

  start<Params, Result>(
    action: ActionDescriptor<Params, Result>,
    principal: KnownPrincipal,
    params: Params,
  ): Promise<Result> | Result {
    const rule = principal.isOwn ? undefined : ruleOf(action.actionClass);
    if (rule !== undefined) {
      const items = (): readonly StagedItem[] => this.plan.items;
      this.#access = new AccessCheck({ actionName: action.name, rule, principal, params, items });
    }
    return runInPerformScope(this, () =>
      startPerform(action.create(), this.plan, principal, params, () => this.log),
    );
  }

  /**
   * Called when `perform` has returned. @throws ForbiddenError if the plan reaches beyond the groups of the principal
   */
  seal(): readonly StagedItem[] {
    const items = this.plan.seal();
    requireReach(this.plan, this.reach);
    if (this.#guesses !== undefined) for (const item of items) this.#noteGuess(item, this.#guesses);
    return items;
  }

  /** A state that another execution has staged meanwhile is no guess. */
  #noteGuess(item: StagedItem, guesses: ReadonlyMap<string, Entity>): void {
    if (item.kind === 'add') return;
    const guess = guesses.get(rowOf(item.model));
    if (guess?.version === item.expectedVersion) item.guess = guess;
  }

  /**
   * The access check of the action's rule; undefined if there is no rule, or if the runtime itself is the principal.
   */
  get access(): AccessCheck | undefined {
    return this.#access;
  }

  /** Whether a state that was read from another shard is not committed yet. */
  dependsOnAnother(shard: ShardIdentifier): boolean {
    for (const [pending, other] of this.#dependencies ?? [])
      if (other !== shard && pending.state === 'pending') return true;
    return false;
  }

  read(read: ReadRow, load: LoadModel): Promise<Entity | undefined> | Entity | undefined {
    if (!this.#chaining) return load();
    const row = rowKey(read.model.name, read.id);
    const state = this.#staged.get(row);
    const guess = state === undefined ? this.#guess(row) : undefined;
    if (state === undefined && guess === undefined) return this.#load(row, read, load);
    const turn = this.#staged.loopTurns.take(row);
    if (turn !== undefined) return this.#readAfter(turn, row, read, load);
    return state === undefined ? this.#assume(row, guess) : this.#dependOn(state);
  }

  async #readAfter(
    turn: Promise<void>,
    row: string,
    read: ReadRow,
    load: LoadModel,
  ): Promise<Entity | undefined> {
    await turn;
    const state = this.#chaining ? this.#staged.get(row) : undefined;
    if (state !== undefined) return this.#dependOn(state);
    const guess = this.#guess(row);
    return guess === undefined ? this.#load(row, read, load) : this.#assume(row, guess);
  }

  #guess(row: string): Entity | undefined {
    if (this.#options.guessing !== true || !this.#chaining) return undefined;
    return this.#guesses?.get(row) ?? this.#remembered?.guess(row, this.actionName);
  }

  #assume(row: string, guess: Entity | undefined): Entity | undefined {
    if (guess === undefined) return undefined;
    this.#guesses ??= new Map();
    this.#guesses.set(row, guess);
    return guess;
  }

  /** Another action may have staged a newer state during the load, which then takes precedence. */
  #load(row: string, read: ReadRow, load: LoadModel): Promise<Entity | undefined> {
    const ready = this.#remembered?.prepare(read.model, read.shard);
    if (ready !== undefined) return ready.then(() => this.#load(row, read, load));
    const era = this.#remembered?.eraOf(read.shard);
    return load().then((stored) => {
      if (stored !== undefined) this.#remembered?.keep(stored, era);
      const turn = this.#staged.loopTurns.take(row);
      return turn === undefined ? this.#newest(row, stored) : turn.then(() => this.#newest(row, stored));
    });
  }

  #newest(row: string, stored: Entity | undefined): Entity | undefined {
    const state = this.#chaining ? this.#staged.get(row) : undefined;
    if (state === undefined || state.model.version <= (stored?.version ?? 0)) return stored;
    return this.#dependOn(state);
  }

  /**
   * Look-ups of one key run one after the other, as reads of one model do: the first has staged the model when the next
   * one starts.
   */
  async readByKey({ name }: KeyLookup, load: LoadModel): Promise<Entity | undefined> {
    if (!this.#chaining) return load();
    const isStaged = this.#staged.holderOf(name) !== undefined;
    const stored = isStaged ? undefined : await load();
    await this.#staged.loopTurns.take(name);
    const staged = this.#chaining ? this.#staged.holderOf(name) : undefined;
    // States that were staged when this look-up began are settled by now: the database has their outcome.
    if (staged === undefined) return this.#keyHolder(name, isStaged ? await load() : stored);
    const isBehind =
      stored !== undefined && rowOf(stored) === rowOf(staged.model) && stored.version >= staged.model.version;
    return isBehind ? stored : this.#dependOn(staged);
  }

  /** Another action may have staged a state in which the model no longer holds the key. */
  #keyHolder(name: string, stored: Entity | undefined): Entity | undefined {
    const newest = stored && this.#newest(rowOf(stored), stored);
    return newest !== undefined && heldKeys(newest).includes(name) ? newest : undefined;
  }

  #dependOn({ model, pending }: StagedState): Entity {
    this.#dependencies ??= new Map();
    this.#dependencies.set(
      pending,
      model.id instanceof ShardedId ? model.id.resolveShardIdentifier() : this.#options.defaultShard,
    );
    return model;
  }

  /**
   * A query cannot see staged states, so it waits until those of its shard are settled. No read chains after the first
   * query, so it also waits for the states that were read from other shards: later reads must not be older.
   */
  async beforeQuery(shard: ShardIdentifier): Promise<void> {
    if (!this.#options.chaining) return;
    this.#chaining = false;
    await allApplied([...this.#staged.pendingPlans(shard), ...this.dependencies]);
  }
}
