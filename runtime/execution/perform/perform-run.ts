import { AccessCheck } from '../../action/access-check.js';
import { ruleOf } from '../../action/access-rule.js';
import { startPerform } from '../../action/action.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import { ActionPlan, type StagedItem } from '../../action/action-plan.js';
import { type PerformScope, runInPerformScope } from '../../action/perform-scope.js';
import type { Reach } from '../../action/tenancy.js';
import type { Clock } from '../../domain/clock.js';
import { descriptorOf, type Entity, rowOf } from '../../domain/entity.js';
import { type Logger, SILENT, withFacts } from '../../domain/logger.js';
import type { KnownPrincipal } from '../../domain/principal.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { PendingPlan } from '../../persistence/write/pending-plan.js';
import { requireReach } from '../admission.js';
import { ChainedReads, type ChainedReadsOptions } from './chained-reads.js';

export interface PerformRunOptions extends ChainedReadsOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly remainingMs: () => number;
  /** The groups of shards that the principal may reach. Default: all. */
  readonly reach?: Reach | undefined;
  /** Default: entries are discarded. */
  readonly log?: Logger | undefined;
  /** Facts of each entry, apart from the action. */
  readonly logged?: (() => object) | undefined;
}

/** One run of `perform`: its plan, and what it has read. */
export class PerformRun implements PerformScope {
  readonly actionName: string;
  readonly plan: ActionPlan;
  readonly signal: AbortSignal | undefined;
  readonly remainingMs: () => number;
  readonly reach: Reach | undefined;
  readonly reads: ChainedReads;
  /**
   * The access check of the action's rule; undefined if there is no rule, or if the runtime itself is the principal.
   */
  access: AccessCheck | undefined;
  /** Whether the sealed plan proves what it stages: not a guess whose row was read again and staged in a later state. */
  isProvable = true;
  readonly #options: PerformRunOptions;
  #isPublished = false;
  #log: Logger | undefined;

  constructor(options: PerformRunOptions) {
    this.actionName = options.actionName;
    this.plan = new ActionPlan(options.clock, options.defaultShard);
    this.signal = options.signal;
    this.remainingMs = options.remainingMs;
    this.reach = options.reach;
    this.reads = new ChainedReads(options);
    this.#options = options;
  }

  get log(): Logger {
    const { log = SILENT, logged } = this.#options;
    this.#log ??= withFacts(log, { action: this.actionName, ...logged?.() });
    return this.#log;
  }

  /** A version check for each guess that the plan does not stage; they must be part of its own statement. */
  proofs(): readonly StagedItem[] {
    const proofs: StagedItem[] = [];
    for (const model of this.reads.guesses.values()) {
      if (this.plan.isStaged(model)) continue;
      const descriptor = descriptorOf(model);
      proofs.push({ kind: 'expect', descriptor, model, expectedVersion: model.version, guess: model });
    }
    return proofs;
  }

  /** Shows the staged states of its plan, which was sent, to other executions. */
  publish(items: readonly StagedItem[], pending: PendingPlan, shard: ShardIdentifier): void {
    if (!this.reads.chaining) return;
    this.#isPublished = true;
    this.#options.staged.publish(items, pending, shard);
  }

  /** Called when its plan is applied. A proof costs more than a read, as plans that expect a row wait for each other. */
  applied(items: readonly StagedItem[]): void {
    for (const model of this.reads.guesses.values()) {
      if (this.plan.isStaged(model)) this.#options.remembered?.proven(this.actionName, model);
      else this.#options.remembered?.failed(this.actionName, model, false);
    }
    if (this.#isPublished) return;
    // No other execution has seen the states, so nothing has replaced the remembered ones.
    for (const { model } of items) this.#options.remembered?.drop(rowOf(model));
  }

  /** Called when its guesses were of no use. @param isStale whether a version had changed */
  unproven(isStale: boolean): void {
    for (const model of this.reads.guesses.values())
      this.#options.remembered?.failed(this.actionName, model, isStale);
  }

  start<Params, Result>(
    action: ActionDescriptor<Params, Result>,
    principal: KnownPrincipal,
    params: Params,
  ): Promise<Result> | Result {
    const rule = principal.isOwn ? undefined : ruleOf(action.actionClass);
    if (rule !== undefined) {
      const items = (): readonly StagedItem[] => this.plan.items;
      this.access = new AccessCheck({ actionName: action.name, rule, principal, params, items });
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
    const { guesses } = this.reads;
    if (guesses.size > 0) for (const item of items) this.isProvable &&= noteGuess(item, guesses);
    return items;
  }
}

/** @returns false if its row was guessed, then read again and staged in a later state */
function noteGuess(item: StagedItem, guesses: ReadonlyMap<string, Entity>): boolean {
  if (item.kind === 'add') return true;
  const guess = guesses.get(rowOf(item.model));
  if (guess === undefined) return true;
  if (guess.version !== item.expectedVersion) return false;
  item.guess = guess;
  return true;
}

/** Whether `perform` has returned a promise, also one of another library or realm, and no result. */
export function isPromise<Result>(work: Promise<Result> | Result): work is Promise<Result> {
  if (work instanceof Promise) return true;
  return typeof work === 'object' && work !== null && 'then' in work && typeof work.then === 'function';
}
