import { startPerform } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import { ActionPlan, type StagedItem } from '../action/action-plan.js';
import type { ExecutionConfiguration } from '../action/execution-configuration.js';
import { type PerformScope, runInPerformScope } from '../action/perform-scope.js';
import { uuid7 } from '../domain/id-source.js';
import { type Principal, principalName } from '../domain/principal.js';
import {
  AbortedError,
  CrossShardException,
  CrossShardPartialError,
  DeadlineExceededError,
  type LegOutcome,
  PlanMisuseError,
  PreconditionFailedError,
  ShardUnavailableError,
} from '../errors.js';
import type { PlanWrite } from '../persistence/plan-write.js';
import { deadlines } from '../sharding/deadlines.js';
import { DriverFailure } from '../sharding/driver-failure.js';
import { publicError } from '../sharding/public-error.js';
import type { ExecutionEnvironment } from './execution-environment.js';
import type { KeyGuard } from './key-guard.js';
import { type LegResult, LegWriter, type Retry } from './leg-writer.js';
import { ReportBuilder } from './report-builder.js';
import { backoffMs } from './retry-policy.js';
import { type Leg, routePlan } from './routing.js';
import type { ShardGateways } from './shard-gateways.js';

/** What one call of `execute` is made of. */
export interface ExecutionRequest<Params, Result> {
  readonly action: ActionDescriptor<Params, Result>;
  readonly principal: Principal;
  readonly params: Params;
  readonly configuration: ExecutionConfiguration;
  /** JSON text of the params, if they are stored. */
  readonly paramsJson: (params: Params) => string | undefined;
  /** On the environment's monotonic clock. */
  readonly deadline: number;
  readonly timeoutMs: number;
  readonly maximumAttempts: number;
  /** Set if the execution runs under an idempotency key. */
  readonly guard: KeyGuard | undefined;
}

type AttemptResult<Result> = { readonly kind: 'done'; readonly result: Result } | Retry;

/** One call of `execute`: attempts until one is applied, refused, out of attempts or out of time. */
export class Execution<Params, Result> {
  readonly #request: ExecutionRequest<Params, Result>;
  readonly #gateways: ShardGateways;
  readonly #environment: ExecutionEnvironment;
  readonly #legWriter: LegWriter;
  readonly #report: ReportBuilder;
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
    this.#legWriter = new LegWriter(gateways, environment);
    this.#report = new ReportBuilder(request.action.name, () => environment.nowMs());
    this.#principalName = principalName(request.principal);
  }

  async run(): Promise<Result> {
    const { onReport } = this.#request.configuration;
    if (onReport === undefined) return this.#run();
    try {
      const result = await this.#run();
      onReport(this.#report.build(undefined));
      return result;
    } catch (error) {
      onReport(this.#report.build(error));
      throw error;
    }
  }

  async #run(): Promise<Result> {
    const replay = await this.#lookUpKey();
    if (replay !== undefined) return this.#replayed(replay.result);
    for (;;) {
      this.#attempt += 1;
      this.#checkTime();
      this.#report.startAttempt();
      const outcome = await this.#reportedAttempt();
      if (outcome.kind === 'done') return outcome.result;
      await this.#pause(outcome);
    }
  }

  async #reportedAttempt(): Promise<AttemptResult<Result>> {
    try {
      const outcome = await this.#runAttempt();
      if (outcome.kind === 'retry') this.#report.endAttempt(outcome.end);
      return outcome;
    } catch (error) {
      this.#report.endAttempt('failed');
      throw error;
    }
  }

  async #runAttempt(): Promise<AttemptResult<Result>> {
    const startedDate = this.#environment.clock.now();
    const plan = new ActionPlan(this.#environment.clock);
    let result: Result;
    try {
      result = await this.#perform(plan);
    } catch (error) {
      if (isLostRead(error)) return { kind: 'retry', end: 'lost', error };
      throw error;
    }
    const items = plan.seal();
    this.#checkVersions(items);
    const legs = this.#route(items);
    if (legs.length === 0) {
      this.#report.endAttempt('nothing-staged');
      return { kind: 'done', result };
    }
    const persisted = await this.#persist(legs, startedDate, result);
    if (persisted.kind === 'retry') return persisted;
    this.#report.endAttempt('applied');
    return { kind: 'done', result: persisted.kind === 'applied' ? result : this.#replayed(persisted.replay.result) };
  }

  #perform(plan: ActionPlan): Promise<Result> {
    const { action, principal, params, configuration, deadline } = this.#request;
    const scope: PerformScope = {
      actionName: action.name,
      plan,
      signal: configuration.signal,
      remainingMs: () => this.#remainingMs(),
    };
    const work = runInPerformScope(scope, async () => startPerform(action.create(), plan, principal, params));
    return deadlines.race(work, deadline, () => this.#deadlineExceeded());
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

  #route(items: readonly StagedItem[]): readonly Leg[] {
    const { action, configuration, guard } = this.#request;
    // A key must be kept even if nothing else is: a repeat has to get the same answer.
    if (items.length === 0) return guard === undefined ? [] : [{ shard: guard.home, items: [] }];
    const legs = routePlan(items, this.#gateways.defaultShard);
    if (legs.length === 1) return legs;
    if (!configuration.allowCrossShard) {
      throw new CrossShardException(
        action.name,
        legs.map(({ shard }) => shard.toString()),
      );
    }
    if (guard !== undefined) {
      throw new PlanMisuseError(
        `${action.name} touches several shards, which commit one by one: no single idempotency key can cover that`,
      );
    }
    return legs;
  }

  async #persist(legs: readonly Leg[], startedDate: Date, result: Result): Promise<LegResult> {
    // An unknown shard is refused before anything is written on any other.
    for (const { shard } of legs) this.#gateways.gateway(shard);
    const [leg] = legs;
    if (legs.length > 1 || leg === undefined) return this.#persistLegs(legs, startedDate);
    const { guard } = this.#request;
    const write = this.#planWrite(leg, startedDate);
    return guard === undefined
      ? this.#writeLeg(leg, write)
      : this.#persistKeyed(leg, { ...write, key: guard.claim(leg.shard, result) }, guard);
  }

  async #persistKeyed(leg: Leg, write: PlanWrite, guard: KeyGuard): Promise<LegResult> {
    const { key } = write;
    if (key === undefined) return this.#writeLeg(leg, write);
    await this.#askHome(guard, () => guard.announce(key, write.action.id));
    const outcome = await this.#writeLeg(leg, write);
    return outcome;
  }

  /** One leg after the other in staging order. Once a leg has committed, nothing is retried. */
  async #persistLegs(legs: readonly Leg[], startedDate: Date): Promise<LegResult> {
    const committed: LegOutcome[] = [];
    for (const [index, leg] of legs.entries()) {
      const write = this.#planWrite(leg, startedDate);
      const failed: LegOutcome = { shard: leg.shard.toString(), actionId: write.action.id };
      const notStarted = legs.slice(index + 1).map(({ shard }) => shard.toString());
      const result = await this.#writeLeg(leg, write).catch((error: unknown) => {
        if (committed.length === 0) throw error;
        throw new CrossShardPartialError(this.#request.action.name, { committed, failed, notStarted }, error);
      });
      if (result.kind === 'retry') {
        if (committed.length === 0) return result;
        throw new CrossShardPartialError(
          this.#request.action.name,
          { committed, failed, notStarted },
          result.error,
        );
      }
      committed.push(failed);
    }
    return { kind: 'applied' };
  }

  #writeLeg({ shard }: Leg, write: PlanWrite): Promise<LegResult> {
    const { configuration, deadline, guard } = this.#request;
    this.#report.tried(write.action.id);
    return this.#legWriter.write(shard, write, { deadline, signal: configuration.signal }, guard);
  }

  async #lookUpKey(): ReturnType<KeyGuard['lookUp']> {
    const { guard } = this.#request;
    return guard === undefined ? undefined : this.#askHome(guard, () => guard.lookUp());
  }

  /** Nothing has been applied yet when the key's home fails: its caller may simply come again. */
  async #askHome<T>(guard: KeyGuard, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw error instanceof DriverFailure ? publicError(error, guard.home) : error;
    }
  }

  #replayed(result: unknown): Result {
    this.#report.replayed = true;
    return result as Result;
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
      key: undefined,
    };
  }

  async #pause(retry: Retry): Promise<void> {
    const { maximumAttempts, configuration } = this.#request;
    const { random, sleep } = this.#environment;
    const pauseMs = backoffMs(this.#attempt, random());
    if (this.#attempt >= maximumAttempts || pauseMs >= this.#remainingMs()) throw retry.error;
    this.#report.paused(pauseMs);
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
    return this.#request.deadline - this.#environment.nowMs();
  }

  #deadlineExceeded(): DeadlineExceededError {
    const { action, timeoutMs } = this.#request;
    return new DeadlineExceededError(`${action.name} did not finish within ${timeoutMs} ms; nothing was written`);
  }
}

/** A read whose connection was lost under way: nothing was written, so the attempt may run again. */
function isLostRead(error: unknown): error is ShardUnavailableError {
  return (
    error instanceof ShardUnavailableError &&
    error.cause instanceof DriverFailure &&
    error.cause.phase === 'in-flight'
  );
}
