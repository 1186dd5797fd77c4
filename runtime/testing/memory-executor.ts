import { ruleOf } from '../action/access-rule.js';
import type { ActionClass } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { ActionInput } from '../action/action-input.js';
import type { ActionRegistry } from '../action/action-registry.js';
import { ExecutionConfiguration } from '../action/execution-configuration.js';
import { currentPerformScope } from '../action/perform-scope.js';
import type { Reach, ReachOf } from '../action/tenancy.js';
import type { Clock } from '../domain/clock.js';
import { uuid7 } from '../domain/id-source.js';
import type { JsonValue } from '../domain/json.js';
import { type Caller, type KnownPrincipal, principalOf } from '../domain/principal.js';
import { IdempotencyKeyReusedError, NestedExecutionError } from '../errors.js';
import type { ActionRunner } from '../execution/action-executor.js';
import { requestFingerprint } from '../execution/keys/key-guard.js';
import type { EventCatalog } from '../persistence/codec/event-catalog.js';
import type { ResultJson } from '../persistence/codec/result-json.js';
import type { MemoryModels } from './memory-models.js';
import { type Performed, performOnce, requireAllowed } from './perform-once.js';

/** One action that has taken effect. */
export interface MemoryCommit {
  readonly actionId: string;
  readonly action: ActionDescriptor;
  readonly principal: KnownPrincipal;
  readonly params: unknown;
  readonly performed: Performed<unknown>;
}

export interface MemoryExecutorOptions {
  readonly registry: ActionRegistry;
  /** The registered events. */
  readonly catalog: EventCatalog;
  readonly models: MemoryModels;
  readonly clock: Clock;
  /** The groups that principals may reach. Default: all. */
  readonly reach?: ReachOf | undefined;
  /** Encodes and decodes the results that are stored under idempotency keys. */
  readonly results: ResultJson;
  /** Called for each commit, in order. */
  readonly committed: (commit: MemoryCommit) => void;
  /** Called for each attempt, before `perform`. */
  readonly attempted?: (action: ActionDescriptor, params: unknown) => void;
  /** Throws an injected database error at this point of an attempt. Default: no error. */
  readonly trouble?: (action: ActionDescriptor, point: 'before commit' | 'after commit') => void;
}

interface KeptResult {
  readonly fingerprint: string;
  readonly json: string;
}

const DEFAULT_CONFIGURATION = ExecutionConfiguration.Builder.executionConfiguration().build();

/**
 * Executes actions on models in memory as `ActionExecutor` does: with the real plan, admission, codecs and keys.
 * Executions run one after another, so there are no conflicts.
 */
export class MemoryExecutor implements ActionRunner {
  readonly #options: MemoryExecutorOptions;
  readonly #kept = new Map<string, KeptResult>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: MemoryExecutorOptions) {
    this.#options = options;
  }

  execute<Params, Result>(
    principal: Caller,
    actionClass: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
    configuration: ExecutionConfiguration = DEFAULT_CONFIGURATION,
  ): Promise<Result> {
    const scope = currentPerformScope();
    // The running action waits for this call, so waiting for the turn would be a deadlock.
    if (scope !== undefined) return Promise.reject(nested(actionClass.name, scope.actionName));
    const turn = this.#last.then(() => this.#run(principalOf(principal), actionClass, params, configuration));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #run<Params, Result>(
    principal: KnownPrincipal,
    actionClass: ActionClass<Params, Result>,
    input: ActionInput<Params>,
    configuration: ExecutionConfiguration,
  ): Promise<Result> {
    const { registry, results } = this.#options;
    const action = registry.find(actionClass);
    const params = registry.complete(action, input);
    const { idempotencyKey, idempotencyRequest } = configuration;
    if (idempotencyKey === undefined) return this.#perform(action, principal, params, configuration);
    const key = JSON.stringify([principal.name, action.name, idempotencyKey]);
    const fingerprint = requestFingerprint(
      action as unknown as ActionDescriptor,
      idempotencyRequest ?? input,
    );
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      if (kept.fingerprint !== fingerprint) throw reused();
      const result = results.read(JSON.parse(kept.json) as JsonValue);
      await this.#requireReplay(action, principal, params, configuration, result);
      // The key contains the action's name, so the result has its type.
      return result as Result;
    }
    const keep = (result: Result): void => {
      this.#kept.set(key, { fingerprint, json: results.write(result) });
    };
    return this.#perform(action, principal, params, configuration, keep);
  }

  /** As `ActionExecutor`: checks the current models. @throws ForbiddenError if the rule refuses the caller */
  async #requireReplay<Params, Result>(
    action: ActionDescriptor<Params, Result>,
    principal: KnownPrincipal,
    params: Params,
    configuration: ExecutionConfiguration,
    result: unknown,
  ): Promise<void> {
    const reach = this.#reach(action, principal);
    reach?.requireIds(params);
    reach?.requireIds(result);
    if (principal.isOwn || ruleOf(action.actionClass) === undefined) return;
    const { clock, models } = this.#options;
    await requireAllowed({ action: action.create(), principal, params, configuration, clock, models, reach });
  }

  #reach<Params, Result>(
    { actionClass }: ActionDescriptor<Params, Result>,
    principal: KnownPrincipal,
  ): Reach | undefined {
    return this.#options.reach?.(principal, actionClass);
  }

  /** @param keep stores the result with the plan; throws if it cannot be stored */
  async #perform<Params, Result>(
    action: ActionDescriptor<Params, Result>,
    principal: KnownPrincipal,
    params: Params,
    configuration: ExecutionConfiguration,
    keep: (result: Result) => void = () => {},
  ): Promise<Result> {
    const { catalog, clock, models, attempted, committed, trouble } = this.#options;
    // Observers accept actions of every type.
    const any = action as unknown as ActionDescriptor;
    attempted?.(any, params);
    const performed = await performOnce({
      action: action.create(),
      principal,
      params,
      configuration,
      clock,
      models,
      catalog,
      reach: this.#reach(action, principal),
    });
    trouble?.(any, 'before commit');
    keep(performed.result);
    models.apply(performed.items);
    const shard = performed.shards[0] ?? models.defaultShard;
    committed({
      actionId: uuid7.next(shard.bits),
      action: any,
      principal,
      params,
      performed,
    });
    trouble?.(any, 'after commit');
    return performed.result;
  }
}

function nested(inner: string, outer: string): NestedExecutionError {
  return new NestedExecutionError(
    `${outer} called execute(${inner}) inside perform; run it after the first has returned`,
  );
}

function reused(): IdempotencyKeyReusedError {
  return new IdempotencyKeyReusedError('This idempotency key was used before with another request');
}
