import type { ActionClass } from '../../action/action.js';
import type { ActionInput } from '../../action/action-input.js';
import { ExecutionConfiguration, runUnderOwnKey } from '../../action/execution-configuration.js';
import { shardOfUuid } from '../../domain/id.js';
import { type Logger, SILENT, withFacts } from '../../domain/logger.js';
import type { ModelEvent } from '../../domain/model-event.js';
import { ownPrincipal } from '../../domain/principal.js';
import { isTraceParent } from '../../domain/trace-parent.js';
import { IdempotencyKeyReusedError, PlanMisuseError, ValidationError } from '../../errors.js';
import type { ActionRunner } from '../../execution/action-executor.js';
import type { Transaction } from '../../sharding/transaction-manager.js';
import { activeSpan, traceIds } from '../../tracing.js';
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
  /** From 1. Failed attempts also count when another process takes over, but not after a requested retry. */
  readonly attempt: number;
  /** When it was stored, by the clock of its database. */
  readonly createdDate: Date;
  /** W3C `traceparent` of the action, if it had one. */
  readonly traceContext: string | undefined;
  /**
   * The application's logger. Each entry has the handler, the shard, the ids of event and action and, in a trace, those
   * of trace and span.
   */
  readonly log: Logger;
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
interface ExecuteOptions {
  /** Identifies the call among the calls of the event. 1 to 60 visible ASCII characters. Default: its number. */
  readonly name?: string;
  /** Deadline over all attempts, in milliseconds. Default: the executor's. */
  readonly timeoutMs?: number;
}

export interface EnvelopeServices {
  readonly executor: ActionRunner;
  /** Default: entries are discarded. */
  readonly log?: Logger | undefined;
}

/** What all attempts of one run share. */
export interface RunContext {
  /** The handler's original name: part of the keys. */
  readonly identity: string;
  /** Part of the keys of a replay that repeats actions. */
  readonly again: string | undefined;
  readonly replayed: boolean;
  readonly signal: AbortSignal;
}

export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** The transaction that moves the checkpoint, for transactional consumers. */
  readonly transaction: Transaction | undefined;
}

class LoggedFacts {
  readonly id: string;
  readonly modelId: string;
  readonly modelName: string;
  readonly modelVersion: number;
  readonly actionId: string;
  readonly action: SourceAction | null;
  readonly namespace: string;
  readonly position: LogCursor;
  readonly traceContext: string | undefined;
  readonly #createdDate: string;

  constructor(logged: LoggedEvent) {
    const trace = logged.traceContext;
    this.id = logged.id;
    this.modelId = logged.modelId;
    this.modelName = logged.modelName;
    this.modelVersion = logged.modelVersion;
    this.actionId = logged.actionId;
    this.action = logged.action;
    this.namespace = logged.namespace;
    this.position = logged.cursor;
    this.traceContext = trace !== null && isTraceParent(trace) ? trace : undefined;
    this.#createdDate = logged.createdDate;
  }

  get createdDate(): Date {
    return new Date(this.#createdDate);
  }
}

/** The envelope of one attempt: a class, because an object of spreads and getters takes twenty times as long to create. */
export class Envelope extends LoggedFacts implements EventEnvelope {
  readonly event: ModelEvent<unknown>;
  readonly attempt: number;
  readonly #transaction: Transaction | undefined;
  readonly #context: RunContext;
  readonly #services: EnvelopeServices;
  #log: Logger | undefined;
  #calls = 0;

  constructor(
    logged: LoggedEvent,
    event: ModelEvent<unknown>,
    { number, transaction }: Attempt,
    context: RunContext,
    services: EnvelopeServices,
  ) {
    super(logged);
    this.event = event;
    this.attempt = number;
    this.#transaction = transaction;
    this.#context = context;
    this.#services = services;
  }

  get replayed(): boolean {
    return this.#context.replayed;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get log(): Logger {
    const ids = traceIds(activeSpan(), this.traceContext);
    const facts = { eventId: this.id, actionId: this.actionId, ...ids };
    this.#log ??= withFacts(this.#services.log ?? SILENT, facts);
    return this.#log;
  }

  get transaction(): Transaction {
    if (this.#transaction !== undefined) return this.#transaction;
    const { identity } = this.#context;
    throw new PlanMisuseError(`${identity} is not transactional: mark it with { transactional: true }`);
  }

  /** May be taken out of the envelope. */
  get execute(): EventEnvelope['execute'] {
    return (actionClass, params, options) => this.#execute(actionClass, params, options);
  }

  async #execute<Params, Result>(
    actionClass: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
    { name, timeoutMs }: ExecuteOptions = {},
  ): Promise<Result> {
    const { id, traceContext } = this;
    const { identity, signal } = this.#context;
    if (this.#transaction !== undefined) {
      throw new PlanMisuseError(
        `${identity} is transactional and writes through its transaction; it cannot start ${actionClass.name}`,
      );
    }
    if (name === undefined) this.#calls += 1;
    const call = name === undefined ? String(this.#calls) : `=${requireCallName(name)}`;
    const configuration = ExecutionConfiguration.Builder.executionConfiguration().signal(signal);
    runUnderOwnKey(configuration, keyOf(id, call, this.#context), { home: shardOfUuid(id), expires: false });
    if (timeoutMs !== undefined) configuration.timeoutMs(timeoutMs);
    if (traceContext !== undefined) configuration.traceContext(traceContext);
    const principal = ownPrincipal(`handler:${identity}`);
    try {
      return await this.#services.executor.execute(principal, actionClass, params, configuration.build());
    } catch (cause) {
      if (!(cause instanceof IdempotencyKeyReusedError)) throw cause;
      const said = name === undefined ? `call ${call}` : `the call named ${name}`;
      throw new IdempotencyKeyReusedError(otherParams(identity, actionClass.name, said, id), { cause });
    }
  }
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

function requireCallName(name: string): string {
  if (CALL_NAME.test(name)) return name;
  throw new ValidationError('A call has a name of 1 to 60 visible ASCII characters', { field: 'name' });
}

/** The key of a call. The event's id comes first, because retention deletes keys by its time. */
function keyOf(
  eventId: string,
  call: string,
  { identity, again }: RunContext,
): readonly [string, string, ...string[]] {
  return ['handler', eventId, identity, call, ...(again === undefined ? [] : [again])];
}
