import { startPerform } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import { ActionPlan, type StagedItem } from '../action/action-plan.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { type PerformScope, runInPerformScope } from '../action/perform-scope.js';
import { uuid7 } from '../domain/id-source.js';
import { markPersisted } from '../domain/model-event.js';
import { type Principal, principalName } from '../domain/principal.js';
import {
  AbortedError,
  CommitOutcomeUnknownError,
  CrossShardException,
  CrossShardPartialError,
  DeadlineExceededError,
  type LegOutcome,
  PreconditionFailedError,
  ShardUnavailableError,
  StaleModelError,
} from '../errors.js';
import type { ActionRow, PlanWrite } from '../persistence/plan-write.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { publicError } from '../sharding/public-error.js';
import { sqlStateMeaning } from '../sharding/sql-state.js';
import { deadlines } from '../sharding/deadlines.js';
import type { ExecutionEnvironment } from './execution-environment.js';
import { backoffMs } from './retry-policy.js';
import { type Leg, routePlan } from './routing.js';
import { settleAttempt } from './settle-attempt.js';
import type { ShardGateways } from './shard-gateways.js';

/** What one call of `execute` is made of. */
export interface ExecutionRequest<Params, Result> {
  readonly action: ActionDescriptor<Params, Result>;
  readonly principal: Principal;
  readonly params: Params;
  readonly configuration: ExecutionConfiguration;
  /** JSON text of the params, if they are stored. */
  readonly paramsJson: (params: Params) => string | undefined;
  readonly timeoutMs: number;
  readonly maximumAttempts: number;
}

/** Why an attempt is run again, and what is thrown when there is no attempt left. */
interface Retry {
  readonly kind: 'retry';
  readonly error: Error;
}

type AttemptResult<Result> = { readonly kind: 'done'; readonly result: Result } | Retry;

/** What became of one leg. `retry` means: nothing of it was or ever will be applied. */
type LegResult = { readonly kind: 'applied' } | Retry;

/** One call of `execute`: attempts until one is applied, refused, out of attempts or out of time. */
export class Execution<Params, Result> {
  readonly #request: ExecutionRequest<Params, Result>;
  readonly #gateways: ShardGateways;
  readonly #environment: ExecutionEnvironment;
  readonly #deadline: number;
  readonly #principalName: string;
  #attempt = 0;
  #paramsJson: string | undefined;

  constructor(
    request: ExecutionRequest<Params, Result>,
    gateways: ShardGateways,
    environment: ExecutionEnvironment,
  ) {
    this.#request = request;
    this.#gateways = gateways;
    this.#environment = environment;
    this.#deadline = environment.nowMs() + request.timeoutMs;
    this.#principalName = principalName(request.principal);
  }

  async run(): Promise<Result> {
    for (;;) {
      this.#attempt += 1;
      this.#checkTime();
      const outcome = await this.#runAttempt();
      if (outcome.kind === 'done') return outcome.result;
      await this.#pause(outcome);
    }
  }

  async #runAttempt(): Promise<AttemptResult<Result>> {
    const startedDate = this.#environment.clock.now();
    const plan = new ActionPlan(this.#environment.clock);
    let result: Result;
    try {
      result = await this.#perform(plan);
    } catch (error) {
      if (isLostRead(error)) return { kind: 'retry', error };
      throw error;
    }
    const items = plan.seal();
    if (items.length === 0) return { kind: 'done', result };
    this.#checkVersions(items);
    const persisted = await this.#persist(items, startedDate);
    return persisted.kind === 'retry' ? persisted : { kind: 'done', result };
  }

  #perform(plan: ActionPlan): Promise<Result> {
    const { action, principal, params, configuration } = this.#request;
    const scope: PerformScope = {
      actionName: action.name,
      plan,
      signal: configuration.signal,
      remainingMs: () => this.#remainingMs(),
    };
    const work = runInPerformScope(scope, async () => startPerform(action.create(), plan, principal, params));
    return deadlines.race(work, this.#deadline, () => this.#deadlineExceeded());
  }

  /** `ifVersion` speaks about what an update starts from, so a retry after a lost race is checked again. */
  #checkVersions(items: readonly StagedItem[]): void {
    const { ifVersion } = this.#request.configuration;
    if (ifVersion === undefined) return;
    const item = items.find(({ model }) => model.id.getValue() === ifVersion.id);
    if (item === undefined || item.kind === 'add' || ifVersion.versions.includes(item.expectedVersion)) return;
    throw new PreconditionFailedError(
      `${item.descriptor.name} ${ifVersion.id} has version ${item.expectedVersion}, not ${ifVersion.versions.join(' or ')}`,
    );
  }

  async #persist(items: readonly StagedItem[], startedDate: Date): Promise<LegResult> {
    const legs = routePlan(items, this.#gateways.defaultShard);
    const { action, configuration } = this.#request;
    if (legs.length > 1 && !configuration.allowCrossShard) {
      throw new CrossShardException(
        action.name,
        legs.map(({ shard }) => shard.toString()),
      );
    }
    // An unknown shard is refused before anything is written on any other.
    for (const { shard } of legs) this.#gateways.gateway(shard);
    return legs.length === 1 && legs[0] !== undefined
      ? this.#persistLeg(legs[0], this.#planWrite(legs[0], startedDate))
      : this.#persistLegs(legs, startedDate);
  }

  /** One leg after the other in staging order. Once a leg has committed, nothing is retried. */
  async #persistLegs(legs: readonly Leg[], startedDate: Date): Promise<LegResult> {
    const committed: LegOutcome[] = [];
    for (const [index, leg] of legs.entries()) {
      const write = this.#planWrite(leg, startedDate);
      const outcome: LegOutcome = { shard: leg.shard.toString(), actionId: write.action.id };
      const fail = (cause: unknown): CrossShardPartialError => {
        const notStarted = legs.slice(index + 1).map(({ shard }) => shard.toString());
        return new CrossShardPartialError(
          this.#request.action.name,
          { committed, failed: outcome, notStarted },
          cause,
        );
      };
      let result: LegResult;
      try {
        result = await this.#persistLeg(leg, write);
      } catch (error) {
        throw committed.length === 0 ? error : fail(error);
      }
      if (result.kind === 'retry') {
        if (committed.length === 0) return result;
        throw fail(result.error);
      }
      committed.push(outcome);
    }
    return { kind: 'applied' };
  }

  async #persistLeg(leg: Leg, write: PlanWrite): Promise<LegResult> {
    const { writer } = this.#gateways.gateway(leg.shard);
    const { signal } = this.#request.configuration;
    try {
      const outcome = await writer.submit(write, { timeoutMs: Math.max(1, this.#remainingMs()), signal });
      if (outcome === 'stale') return { kind: 'retry', error: this.#staleError(leg) };
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      const settled = await this.#afterFailure(leg, write.action, error);
      if (settled.kind === 'retry') return settled;
    }
    markEventsPersisted(leg.items);
    return { kind: 'applied' };
  }

  async #afterFailure(leg: Leg, action: ActionRow, failure: DriverFailure): Promise<LegResult> {
    if (failure.phase === 'in-flight') {
      const { store } = this.#gateways.gateway(leg.shard);
      const outcome = await settleAttempt(store, action, this.#environment, this.#deadline);
      if (outcome === 'unknown') throw new CommitOutcomeUnknownError(action.id, { cause: failure });
      return outcome === 'committed'
        ? { kind: 'applied' }
        : { kind: 'retry', error: publicError(failure, leg.shard) };
    }
    const error = publicError(failure, leg.shard);
    if (isRetried(failure)) return { kind: 'retry', error };
    throw error;
  }

  #planWrite(leg: Leg, startedDate: Date): PlanWrite {
    const { action, configuration, params, paramsJson } = this.#request;
    this.#paramsJson ??= paramsJson(params);
    return {
      action: {
        id: uuid7.next(leg.shard.bits),
        name: action.name,
        principal: this.#principalName,
        startedDate: startedDate.toISOString(),
        completedDate: this.#environment.clock.now().toISOString(),
        params: this.#paramsJson,
        result: undefined,
      },
      items: leg.items,
      traceContext: configuration.traceContext,
    };
  }

  async #pause(retry: Retry): Promise<void> {
    const { maximumAttempts, configuration } = this.#request;
    const { random, sleep } = this.#environment;
    const pauseMs = backoffMs(this.#attempt, random());
    if (this.#attempt >= maximumAttempts || pauseMs >= this.#remainingMs()) throw retry.error;
    try {
      await sleep(pauseMs, configuration.signal);
    } catch (cause) {
      throw new AbortedError('The execution was aborted between two attempts', { cause });
    }
  }

  #checkTime(): void {
    if (this.#request.configuration.signal?.aborted === true) {
      throw new AbortedError('The execution was aborted before anything was sent');
    }
    if (this.#remainingMs() <= 0) throw this.#deadlineExceeded();
  }

  #remainingMs(): number {
    return this.#deadline - this.#environment.nowMs();
  }

  #deadlineExceeded(): DeadlineExceededError {
    const { action, timeoutMs } = this.#request;
    return new DeadlineExceededError(`${action.name} did not finish within ${timeoutMs} ms; nothing was written`);
  }

  #staleError({ items }: Leg): StaleModelError {
    const guarded = items.filter(({ kind }) => kind !== 'add');
    const models = guarded.map(({ descriptor, model }) => `${descriptor.name} ${model.id.getValue()}`);
    return new StaleModelError(this.#request.action.name, models.join(', '), this.#attempt);
  }
}

/** Lost races and locks: another attempt with fresh reads may do. */
function isRetried({ sqlState }: DriverFailure): boolean {
  if (sqlState === undefined) return false;
  const meaning = sqlStateMeaning(sqlState);
  return meaning === 'transient' || meaning === 'locked';
}

/** A read whose connection was lost under way: nothing was written, so the attempt may run again. */
function isLostRead(error: unknown): error is ShardUnavailableError {
  return (
    error instanceof ShardUnavailableError &&
    error.cause instanceof DriverFailure &&
    error.cause.phase === 'in-flight'
  );
}

function markEventsPersisted(items: readonly StagedItem[]): void {
  for (const item of items) {
    if (item.kind === 'expect') continue;
    for (const event of item.events) markPersisted(event);
  }
}
