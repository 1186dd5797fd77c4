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

/** The input of a handler: the event with its action, model, position and transaction. */
export interface EventEnvelope<Event extends ModelEvent<unknown> = ModelEvent<unknown>> {
  /** An instance of the event's class, upcast to its current version. */
  readonly event: Event;
  /** Id of the event, the same in every redelivery. */
  readonly id: string;
  readonly modelId: string;
  readonly modelName: string;
  /** The model version that the change produced. */
  readonly modelVersion: number;
  readonly actionId: string;
  /** Name, principal, claims and params of the action. Null if retention has deleted its row. */
  readonly action: SourceAction | null;
  readonly namespace: string;
  /** Its position in the shard's log. */
  readonly position: LogCursor;
  /** From 1. Restarts when another process takes over. */
  readonly attempt: number;
  /** When the action's process wrote the plan, by that process's clock. */
  readonly createdDate: Date;
  /** W3C `traceparent` of the action, if it had one. */
  readonly traceContext: string | undefined;
  /** Whether the event is part of a replay. */
  readonly replayed: boolean;
  /** Aborted when the handler must give up: the process closes, or another process has taken over. */
  readonly signal: AbortSignal;
  /**
   * The transaction that also moves the checkpoint: writes through it happen exactly once.
   *
   * @throws PlanMisuseError unless the handler is `transactional`
   */
  readonly transaction: Transaction;
  /**
   * Runs an action exactly once for this event, despite redelivery: a repeat returns the first result. Calls are
   * identified by their number, so each attempt must make them in the same order. Otherwise, name them.
   *
   * @throws the action's own errors; refusals and failures are not stored and can occur again in the next attempt
   * @throws IdempotencyKeyReusedError if an earlier attempt made this call with other params
   * @throws PlanMisuseError in a `transactional` handler
   */
  execute<Params, Result>(
    action: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
    options?: ExecuteOptions,
  ): Promise<Result>;
}

/** Options of an action that a handler runs. */
export interface ExecuteOptions {
  /** Identifies the call among the calls of the event. 1 to 60 visible ASCII characters. Default: its number. */
  readonly name?: string;
  /** Deadline over all attempts, in milliseconds. Default: the executor's. */
  readonly timeoutMs?: number;
}

/** The envelope context that all attempts of one run share. */
export interface EnvelopeContext {
  readonly executor: ActionRunner;
  /** The handler's original name: part of the keys. */
  readonly identity: string;
  /** Part of the keys of a replay that repeats actions. */
  readonly again: string | undefined;
  readonly replayed: boolean;
  readonly signal: AbortSignal;
}

/** Creates the envelope of one attempt. */
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
    `${handler} has already started ${action} with other params, as ${call} for event ${eventId}. Each attempt must make ` +
    'the same calls in the same order with the same params: take them from the event, not from data that may change ' +
    'meanwhile, and identify calls by { name } if their order may differ. If the first call is the right one, restore ' +
    'its params in the handler and retry the event; to run the action once more on purpose, give the ' +
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

  /** The event's id comes first, because retention deletes keys by its time. */
  #key(call: string): readonly [string, string, ...string[]] {
    const { identity, again } = this.#context;
    return ['handler', this.#logged.id, identity, call, ...(again === undefined ? [] : [again])];
  }
}
