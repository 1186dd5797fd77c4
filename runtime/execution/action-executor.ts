import type { ActionClass } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { ActionInput } from '../action/action-input.js';
import type { ActionRegistry } from '../action/action-registry.js';
import type { ActionStatistics, RememberedCounts } from '../action/action-statistics.js';
import { ExecutionConfiguration } from '../action/execution-configuration.js';
import { currentPerformScope } from '../action/perform-scope.js';
import type { ReachOf } from '../action/tenancy.js';
import { memoize } from '../collections/memoize.js';
import { deadlines } from '../concurrency/deadlines.js';
import { type ExecutionEnvironment, systemEnvironment } from '../concurrency/execution-environment.js';
import { KeyedMutex } from '../concurrency/keyed-mutex.js';
import type { ExecutionDefaults } from '../config/types.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { ShardedId } from '../domain/id.js';
import { compileObjectWriter, type JsonWriter } from '../domain/json-codec.js';
import type { Logger } from '../domain/logger.js';
import { type Caller, ownPrincipal, principalOf } from '../domain/principal.js';
import { withoutSecrets } from '../domain/shown-fields.js';
import { uuidTimeMs } from '../domain/uuid.js';
import {
  ClosedError,
  IdempotencyKeyBusyError,
  NestedExecutionError,
  OutcomeForgottenError,
} from '../errors.js';
import type { AttemptOutcome } from '../persistence/attempt-outcome.js';
import { ResultJson } from '../persistence/codec/result-json.js';
import type { ShardStore } from '../persistence/shard-store.js';
import { isTracing, type Span, startSpan } from '../tracing.js';
import { RowContention } from './contention/row-contention.js';
import { Execution } from './execution.js';
import type { ExecutionContext, ExecutionRequest } from './execution-request.js';
import { KeyGuard, keyHome, requestFingerprint } from './keys/key-guard.js';
import { KeyRepeats } from './keys/key-repeats.js';
import { ObservedExecutions } from './observed-executions.js';
import { type Explanation, explainAction } from './perform/explain.js';
import { orAborted } from './perform/until-aborted.js';
import { Running } from './running.js';
import { REMEMBERED_MODELS, type ShardGateways } from './shard-gateways.js';
import { settleAttempt } from './shard-transaction.js';

/** The dependencies of an executor. */
export interface ActionExecutorOptions {
  readonly registry: ActionRegistry;
  readonly gateways: ShardGateways;
  /** Models that may be part of results stored under idempotency keys. */
  readonly models: readonly ModelDescriptor[];
  /** Default: the system's clock, timers and random numbers. */
  readonly environment?: ExecutionEnvironment;
  readonly defaults?: Partial<ExecutionDefaults>;
  /** The groups of shards that a principal may reach with an action. Default: all. */
  readonly reach?: ReachOf;
  /** The logger of actions. Default: their entries are discarded. */
  readonly log?: Logger;
}

export const EXECUTION_DEFAULTS: ExecutionDefaults = Object.freeze({
  timeoutMs: 1_800,
  maximumAttempts: 4,
  storeParams: true,
  keyRetentionMs: 24 * 60 * 60 * 1_000,
  rememberedModels: REMEMBERED_MODELS,
  slowMs: 1_000,
});

const DEFAULT_CONFIGURATION = ExecutionConfiguration.Builder.executionConfiguration().build();
/** How long keys are kept that never expire by themselves: 8,000 years. */
const FOR_EVER_MS = 8_000 * 365 * 24 * 60 * 60 * 1_000;
/** Action name in the void rows that `outcomeOf` writes, because it does not know the action. */
const UNNAMED = '(unknown)';
const UNKNOWN_PRINCIPAL = ownPrincipal('unknown').name;

/** The part of an executor that runs actions. */
export type ActionRunner = Pick<ActionExecutor, 'execute'>;

/** Runs actions: phase 1 reads and stages, phase 2 persists the plan in one transaction on one shard. */
export class ActionExecutor {
  readonly #registry: ActionRegistry;
  readonly #defaults: ExecutionDefaults;
  readonly #results: ResultJson;
  readonly #reach: ReachOf;
  readonly #context: ExecutionContext;
  readonly #repeats = memoize((_: ActionDescriptor) => new KeyRepeats());
  readonly #keys = new KeyedMutex();
  #closed = false;

  /** @internal use `openApplication` */
  constructor(options: ActionExecutorOptions) {
    const { registry, gateways, models, environment = systemEnvironment(), defaults } = options;
    this.#reach = options.reach ?? (() => undefined);
    this.#registry = registry;
    this.#results = new ResultJson(models);
    this.#defaults = { ...EXECUTION_DEFAULTS, ...defaults };
    this.#context = {
      gateways,
      environment,
      log: options.log,
      rowContention: new RowContention(environment),
      running: new Running(),
      observed: new ObservedExecutions(options.log, this.#defaults.slowMs, environment),
    };
  }

  /**
   * Runs one action and returns its result once everything that it staged is committed.
   *
   * @throws whatever `perform` throws; then nothing was written
   * @throws UnknownActionError, NestedExecutionError, CrossShardException, UnknownShardError before any write
   * @throws StaleModelError, RowBusyError, PreconditionFailedError, UniqueViolationError, ConstraintViolationError,
   *   ShardUnavailableError, ShardBusyError, DeadlineExceededError, AbortedError: nothing was written
   * @throws CrossShardPartialError if some shard transactions of an allowed cross-shard plan are committed and another
   *   is not
   * @throws IdempotencyKeyReusedError, IdempotencyKeyBusyError under an idempotency key; nothing was written
   * @throws CommitOutcomeUnknownError if the outcome could not be determined in time; see `outcomeOf`
   */
  execute<Params, Result>(
    principal: Caller,
    actionClass: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
    configuration: ExecutionConfiguration = DEFAULT_CONFIGURATION,
  ): Promise<Result> {
    // Not async: an async function would create another promise for each action, here and at the caller's `await`.
    try {
      return this.#start(principal, actionClass, params, configuration);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * The outcome of an attempt (`CommitOutcomeUnknownError.actionId`). An attempt that is not yet applied is voided, so
   * that the answer stays true.
   *
   * @throws ValidationError if `actionId` is not an action id @throws UnknownShardError if its shard is not configured
   * @throws OutcomeForgottenError if retention has deleted the audit trail of that time
   */
  async outcomeOf(actionId: string): Promise<AttemptOutcome | 'unknown'> {
    const id = ShardedId.named('Action', actionId);
    const { store } = this.#context.gateways.gateway(id.resolveShardIdentifier());
    const now = this.#context.environment.clock.now();
    const action = {
      id: id.getValue(),
      name: UNNAMED,
      principal: UNKNOWN_PRINCIPAL,
      startedDate: now,
      completedDate: now,
    };
    // If retention may have deleted the action's row, a fence proves nothing, and the attempt stays unsettled.
    const fence: ShardStore['fence'] = async (attempt, options) => {
      const { outcome, completeFrom } = await store.readAttempt(attempt.id, options);
      if (outcome !== undefined) return outcome;
      if (completeFrom !== undefined && uuidTimeMs(attempt.id) < completeFrom.getTime())
        throw new OutcomeForgottenError(attempt.id, completeFrom);
      return store.fence(attempt, options);
    };
    const deadline = this.#context.environment.nowMs() + this.#defaults.timeoutMs;
    return settleAttempt({ fence }, action, this.#context.environment, deadline);
  }

  /**
   * The effects that `execute` would have, as data: shards, statements and events, or the refusal. Runs `perform` and
   * writes nothing.
   *
   * @throws UnknownActionError, NestedExecutionError, ClosedError
   */
  async explain<Params, Result>(
    principal: Caller,
    actionClass: ActionClass<Params, Result>,
    input: ActionInput<NoInfer<Params>>,
    configuration: ExecutionConfiguration = DEFAULT_CONFIGURATION,
  ): Promise<Explanation> {
    const request = this.#requestOf('explain', principal, actionClass, input, configuration);
    return explainAction(request, this.#context.gateways, this.#context.environment);
  }

  /** What this process has executed since its start, by action. */
  statistics(): readonly ActionStatistics[] {
    return this.#context.observed.statistics();
  }

  /**
   * How many reads this process has spared since its start.
   *
   * @internal
   */
  get remembered(): RememberedCounts {
    return this.#context.gateways.remembered.counts;
  }

  /** Refuses new executions and waits for running ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#context.running.ended();
  }

  #requireReady(call: string): void {
    if (this.#closed) throw new ClosedError('The executor is closed');
    const scope = currentPerformScope();
    if (scope === undefined) return;
    throw new NestedExecutionError(
      `${scope.actionName} called ${call} inside perform; run it after the first has returned`,
    );
  }

  #requestOf<Params, Result>(
    call: 'execute' | 'explain',
    principal: Caller,
    actionClass: ActionClass<Params, Result>,
    input: ActionInput<Params>,
    configuration: ExecutionConfiguration,
  ) {
    this.#requireReady(`${call}(${actionClass.name})`);
    const action = this.#registry.find(actionClass);
    const params = this.#registry.complete(action, input);
    const timeoutMs = configuration.timeoutMs ?? this.#defaults.timeoutMs;
    const known = principalOf(principal);
    return {
      action,
      span: undefined as Span | undefined,
      principal: known,
      reach: this.#reach(known, actionClass),
      params,
      registry: this.#registry,
      configuration,
      writeParams: (this.#defaults.storeParams ? shownParamsWriter(action) : undefined) as
        | JsonWriter<unknown>
        | undefined,
      timeoutMs,
      deadline: this.#context.environment.nowMs() + timeoutMs,
      maximumAttempts: configuration.maximumAttempts ?? this.#defaults.maximumAttempts,
      guard: undefined as KeyGuard | undefined,
    };
  }

  #start<Params, Result>(
    principal: Caller,
    actionClass: ActionClass<Params, Result>,
    input: ActionInput<Params>,
    configuration: ExecutionConfiguration,
  ): Promise<Result> {
    const request = this.#requestOf('execute', principal, actionClass, input, configuration);
    const { action, reach, params } = request;
    // Checked before the first read, which includes the home of an idempotency key.
    reach?.requireIds(params);
    const { idempotencyKey: key, traceContext } = configuration;
    const guard = key === undefined ? undefined : this.#guard(request, key, input);
    request.guard = guard;
    if (isTracing())
      request.span = startSpan(`execute ${action.name}`, {
        attributes: { 'fw.action': action.name },
        traceContext,
      });
    const execution = new Execution(request, this.#context);
    return guard === undefined ? execution.run() : this.#inTurn(guard, execution, request);
  }

  /** Executions under one key run one after the other, so that a repeat finds what the first has stored. */
  async #inTurn<Params, Result>(
    { name }: KeyGuard,
    execution: Execution<Params, Result>,
    { configuration, deadline }: ExecutionRequest<Params, Result>,
  ): Promise<Result> {
    const { running } = this.#context;
    // No name contains NUL.
    const turn = this.#keys.queue(`${name.principal}\0${name.operation}\0${name.key}`);
    running.begin();
    try {
      if (turn.isWaiting) {
        const reached = deadlines.race(orAborted(turn.reached, configuration.signal), deadline, busy);
        await reached.catch((refusal: unknown) => {
          execution.ended(refusal);
          throw refusal;
        });
      }
      return await execution.run();
    } finally {
      turn.leave();
      running.end();
    }
  }

  #guard<Params, Result>(
    request: ExecutionRequest<Params, Result>,
    key: string,
    input: ActionInput<Params>,
  ): KeyGuard {
    const { params, deadline, configuration } = request;
    const action = request.action as unknown as ActionDescriptor;
    return new KeyGuard({
      name: { principal: request.principal.name, operation: action.name, key },
      // It covers the given params, not the defaults: a release with another default repeats the same request.
      fingerprint: requestFingerprint(action, input, configuration.idempotencyRequest),
      home: configuration.idempotencyHome ?? keyHome(action, params, this.#context.gateways.defaultShard),
      keepMs: configuration.idempotencyExpires ? this.#defaults.keyRetentionMs : FOR_EVER_MS,
      results: this.#results,
      store: (shard) => this.#context.gateways.gateway(shard).store,
      remainingMs: () => deadline - this.#context.environment.nowMs(),
      repeats: this.#repeats(action),
    });
  }
}

/** Writes params as JSON text without secret ones. */
const shownParamsWriter = memoize(({ name, params }: Pick<ActionDescriptor, 'name' | 'params'>) => {
  return compileObjectWriter(withoutSecrets(params), name);
});

function busy(): IdempotencyKeyBusyError {
  return new IdempotencyKeyBusyError('Another execution under this idempotency key is still running');
}
