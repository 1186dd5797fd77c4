import type { ActionClass } from '../../action/action.js';
import type { ActionInput } from '../../action/action-input.js';
import { ExecutionConfiguration, runUnderOwnKey } from '../../action/execution-configuration.js';
import { shardOfUuid } from '../../domain/id.js';
import type { ModelEvent } from '../../domain/model-event.js';
import { ownPrincipal } from '../../domain/principal.js';
import { isTraceParent } from '../../domain/trace-parent.js';
import { IdempotencyKeyReusedError, PlanMisuseError, ValidationError } from '../../errors.js';
import type { ActionRunner } from '../../execution/action-executor.js';
import type { Transaction } from '../../sharding/transaction-manager.js';
import type { LogCursor, LoggedEvent, SourceAction } from './event-record.js';

/** What a handler is given: the event and everything that is known about how it came to be. */
export interface EventEnvelope<Event extends ModelEvent<unknown> = ModelEvent<unknown>> {
  /** An instance of the event's class, brought up to its present version. */
  readonly event: Event;
  /** Id of the event: the same in every redelivery. */
  readonly id: string;
  readonly modelId: string;
  readonly modelName: string;
  /** The version that the change produced. */
  readonly modelVersion: number;
  readonly actionId: string;
  /** Name, principal, its claims and params of the action; null if its row is gone (retention). */
  readonly action: SourceAction | null;
  readonly namespace: string;
  /** Where it stands in its shard's log. */
  readonly position: LogCursor;
  /** From 1; starts again when another process takes over. */
  readonly attempt: number;
  /** When the action's plan was written, by its clock. */
  readonly createdDate: Date;
  /** W3C `traceparent` of the action, if it had one. */
  readonly traceContext: string | undefined;
  /** Part of a replay, not of the live delivery. */
  readonly replayed: boolean;
  /** Aborted when the handler should give up: the process closes, or another one has taken over. */
  readonly signal: AbortSignal;
  /**
   * The transaction that also moves the checkpoint: what is written through it happens exactly once.
   *
   * @throws PlanMisuseError unless the handler is `transactional`
   */
  readonly transaction: Transaction;
  /**
   * Runs an action exactly once for this event, despite redelivery: a repeat gets the first result. Calls are
   * identified by their number, so they must come in the same order in each attempt. If they do not, name them.
   *
   * @throws what the action throws; its refusals and failures are not kept and happen again in the next attempt
   * @throws IdempotencyKeyReusedError if an earlier attempt has made this call with other params
   * @throws PlanMisuseError in a `transactional` handler
   */
  execute<Params, Result>(
    action: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
    options?: ExecuteOptions,
  ): Promise<Result>;
}

/** How an action is run from a handler. */
export interface ExecuteOptions {
  /** Identifies the call among the calls of the event. 1 to 60 visible ASCII characters. Default: its number. */
  readonly name?: string;
  /** Deadline over all attempts, in milliseconds. Default: the executor's. */
  readonly timeoutMs?: number;
}

/** What all envelopes of one run have in common. */
export interface EnvelopeContext {
  readonly executor: ActionRunner;
  /** The handler's first name ever: part of the keys. */
  readonly identity: string;
  /** Part of the keys of a replay that repeats actions. */
  readonly again: string | undefined;
  readonly replayed: boolean;
  readonly signal: AbortSignal;
}

/** Makes the envelope of one attempt. */
export function makeEnvelope(
  logged: LoggedEvent,
  event: ModelEvent<unknown>,
  attempt: { readonly number: number; readonly transaction: Transaction | undefined },
  context: EnvelopeContext,
): EventEnvelope {
  return new Envelope(logged, event, attempt, context);
}

function otherParams(handler: string, action: string, call: string, eventId: string): string {
  return (
    `${handler} has started ${action} before with other params, as ${call} for event ${eventId}. Each attempt must make ` +
    'the same calls in the same order with the same params: take them from the event, not from what may change ' +
    'meanwhile, and identify calls by { name } if their order may differ. If the first call is the right one, make ' +
    'the handler give its params again and retry the event; if the action is to run once more on purpose, give the ' +
    'call another name'
  );
}

const CALL_NAME = /^[\x21-\x7e]{1,60}$/;

class Envelope implements EventEnvelope {
  readonly event: ModelEvent<unknown>;
  readonly attempt: number;
  readonly #logged: LoggedEvent;
  readonly #context: EnvelopeContext;
  readonly #transaction: Transaction | undefined;
  #calls = 0;

  constructor(
    logged: LoggedEvent,
    event: ModelEvent<unknown>,
    attempt: { readonly number: number; readonly transaction: Transaction | undefined },
    context: EnvelopeContext,
  ) {
    this.event = event;
    this.attempt = attempt.number;
    this.#transaction = attempt.transaction;
    this.#logged = logged;
    this.#context = context;
  }

  get id(): string {
    return this.#logged.id;
  }

  get modelId(): string {
    return this.#logged.modelId;
  }

  get modelName(): string {
    return this.#logged.modelName;
  }

  get modelVersion(): number {
    return this.#logged.modelVersion;
  }

  get actionId(): string {
    return this.#logged.actionId;
  }

  get action(): SourceAction | null {
    return this.#logged.action;
  }

  get namespace(): string {
    return this.#logged.namespace;
  }

  get position(): LogCursor {
    return this.#logged.cursor;
  }

  get createdDate(): Date {
    return new Date(this.#logged.createdDate);
  }

  get traceContext(): string | undefined {
    const { traceContext } = this.#logged;
    return traceContext !== null && isTraceParent(traceContext) ? traceContext : undefined;
  }

  get replayed(): boolean {
    return this.#context.replayed;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get transaction(): Transaction {
    if (this.#transaction !== undefined) return this.#transaction;
    throw new PlanMisuseError(
      `${this.#context.identity} is not transactional: mark it with { transactional: true }`,
    );
  }

  async execute<Params, Result>(
    action: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
    options: ExecuteOptions = {},
  ): Promise<Result> {
    const { executor, identity } = this.#context;
    if (this.#transaction !== undefined) {
      throw new PlanMisuseError(
        `${identity} is transactional and writes through its transaction; it cannot start ${action.name}`,
      );
    }
    const call = this.#call(options.name);
    const configuration = ExecutionConfiguration.Builder.executionConfiguration().signal(this.signal);
    runUnderOwnKey(configuration, this.#key(call), { home: shardOfUuid(this.#logged.id), expires: false });
    if (options.timeoutMs !== undefined) configuration.timeoutMs(options.timeoutMs);
    if (this.traceContext !== undefined) configuration.traceContext(this.traceContext);
    try {
      return await executor.execute(
        ownPrincipal(`handler:${identity}`),
        action,
        params,
        configuration.build(),
      );
    } catch (error) {
      if (!(error instanceof IdempotencyKeyReusedError)) throw error;
      const said = options.name === undefined ? `call ${call}` : `the call named ${options.name}`;
      throw new IdempotencyKeyReusedError(otherParams(identity, action.name, said, this.id), {
        cause: error,
      });
    }
  }

  /** The identity of a call among the calls of this event. */
  #call(name: string | undefined): string {
    if (name !== undefined && !CALL_NAME.test(name)) {
      throw new ValidationError('A call has a name of 1 to 60 visible ASCII characters', { field: 'name' });
    }
    if (name !== undefined) return `=${name}`;
    this.#calls += 1;
    return String(this.#calls);
  }

  /** The event comes first: retention deletes keys by its time. */
  #key(call: string): readonly [string, string, ...string[]] {
    const { identity, again } = this.#context;
    return ['handler', this.#logged.id, identity, call, ...(again === undefined ? [] : [again])];
  }
}
