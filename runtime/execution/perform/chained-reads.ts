import type { LoadModel, ReadRow, ScopedReads } from '../../action/perform-scope.js';
import { type Entity, rowKey, rowOf } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import { heldKeys, type KeyLookup } from '../../domain/natural-key.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { allApplied, type PendingPlan } from '../../persistence/write/pending-plan.js';
import { LateSpan, type Span } from '../../tracing.js';
import type { RememberedModels } from './remembered-models.js';
import type { StagedState, StagedStates } from './staged-states.js';

export interface ChainedReadsOptions {
  readonly actionName: string;
  readonly staged: StagedStates;
  readonly defaultShard: ShardIdentifier;
  /** Whether the run may read states that other executions have staged. */
  readonly chaining: boolean;
  /** Receives the states that are read. Default: none. */
  readonly remembered?: RememberedModels | undefined;
  /** Whether the run may start from remembered states. Default false. */
  readonly guessing?: boolean | undefined;
  /** The span of the attempt. */
  readonly span?: Span | undefined;
}

const NO_GUESSES: ReadonlyMap<string, Entity> = new Map();
const NO_DEPENDENCIES: readonly PendingPlan[] = Object.freeze([]);

/** The reads of one run of `perform`, and the staged and remembered states that it has started from. */
export class ChainedReads implements ScopedReads {
  readonly #options: ChainedReadsOptions;
  readonly span: LateSpan | undefined;
  /** By pending plan, with the shard of its models. Created with the first one. */
  #dependencies: Map<PendingPlan, ShardIdentifier> | undefined;
  #chaining: boolean;
  /** Remembered states that it has read, by row. Created with the first one. */
  #guesses: Map<string, Entity> | undefined;

  constructor(options: ChainedReadsOptions) {
    this.#options = options;
    this.#chaining = options.chaining;
    this.span = options.span && new LateSpan(options.span, 'perform');
  }

  /** Pending plans that this run depends on. Its result is reported after their outcomes are known. */
  get dependencies(): readonly PendingPlan[] {
    return this.#dependencies === undefined ? NO_DEPENDENCIES : [...this.#dependencies.keys()];
  }

  /** Remembered states that this run has read, by row. Its outcome must prove each of them. */
  get guesses(): ReadonlyMap<string, Entity> {
    return this.#guesses ?? NO_GUESSES;
  }

  /**
   * Whether other executions may read its staged states. False after a query, whose result no version check protects.
   */
  get chaining(): boolean {
    return this.#chaining;
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
    const state = this.#options.staged.get(row);
    const guess = state === undefined ? this.#guess(row) : undefined;
    if (state === undefined && guess === undefined) return this.#load(row, read, load);
    const turn = this.#options.staged.loopTurns.take(row);
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
    const state = this.#chaining ? this.#options.staged.get(row) : undefined;
    if (state !== undefined) return this.#dependOn(state);
    const guess = this.#guess(row);
    return guess === undefined ? this.#load(row, read, load) : this.#assume(row, guess);
  }

  #guess(row: string): Entity | undefined {
    if (this.#options.guessing !== true || !this.#chaining) return undefined;
    return this.#guesses?.get(row) ?? this.#options.remembered?.guess(row, this.#options.actionName);
  }

  #assume(row: string, guess: Entity | undefined): Entity | undefined {
    if (guess === undefined) return undefined;
    this.#guesses ??= new Map();
    this.#guesses.set(row, guess);
    return guess;
  }

  /** Another action may have staged a newer state during the load, which then takes precedence. */
  #load(row: string, read: ReadRow, load: LoadModel): Promise<Entity | undefined> {
    const ready = this.#options.remembered?.prepare(read.model, read.shard);
    if (ready !== undefined) return ready.then(() => this.#load(row, read, load));
    const era = this.#options.remembered?.eraOf(read.shard);
    return load().then((stored) => {
      if (stored !== undefined) this.#options.remembered?.keep(stored, era);
      const turn = this.#options.staged.loopTurns.take(row);
      return turn === undefined ? this.#newest(row, stored) : turn.then(() => this.#newest(row, stored));
    });
  }

  #newest(row: string, stored: Entity | undefined): Entity | undefined {
    const state = this.#chaining ? this.#options.staged.get(row) : undefined;
    if (state === undefined || state.model.version <= (stored?.version ?? 0)) return stored;
    return this.#dependOn(state);
  }

  /**
   * Look-ups of one key run one after the other, as reads of one model do: the first has staged the model when the next
   * one starts.
   */
  async readByKey({ name }: KeyLookup, load: LoadModel): Promise<Entity | undefined> {
    if (!this.#chaining) return load();
    const isStaged = this.#options.staged.holderOf(name) !== undefined;
    const stored = isStaged ? undefined : await load();
    await this.#options.staged.loopTurns.take(name);
    const staged = this.#chaining ? this.#options.staged.holderOf(name) : undefined;
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
    await allApplied([...this.#options.staged.pendingPlans(shard), ...this.dependencies]);
  }
}
