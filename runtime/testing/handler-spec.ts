import type { Entity } from '../domain/entity.js';
import { shardOfUuid } from '../domain/id.js';
import { uuid7 } from '../domain/id-source.js';
import { ModelEvent } from '../domain/model-event.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';
import { parseUuid } from '../domain/uuid.js';
import { UnknownHandlerError, ValidationError } from '../errors.js';
import { HandlerAttempts } from '../events/delivery/handler-attempts.js';
import type { EventHandler, HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
import type { LoggedEvent, SourceAction } from '../events/log/event-record.js';
import type { ActionRunner } from '../execution/action-executor.js';
import { type Handled, HandlerOutcome } from './handler-outcome.js';
import { type MemoryApplication, memoryApplication, type SpecSetting } from './memory-application.js';
import { performedIn } from './performed.js';
import { type RecordedCall, recording } from './recorded-calls.js';

/** A handler class as a value. */
export interface HandlerClass<Event extends ModelEvent<unknown>> {
  readonly name: string;
  readonly prototype: EventHandler<Event>;
}

/** Options of a delivery. */
interface DeliveryOptions {
  /**
   * Id of the event, a UUID: an event that is given again with another id is another event. Default: a new one, or that of
   * the event's first delivery.
   */
  readonly id?: string;
  /** Id of the action that caused the event, a UUID. Default: a new one. */
  readonly actionId?: string;
  /** Number of the attempt, from 1. Default 1. */
  readonly attempt?: number;
  /** Whether the delivery is part of a replay. Default false. */
  readonly replayed?: boolean;
  /** The model version that the change produced. Default: that of the given model, else 1. */
  readonly modelVersion?: number;
  /**
   * The action that caused the event; null: retention has deleted its row. Default: one named `spec`, by `spec`,
   * without params.
   */
  readonly action?: SourceAction | null;
}

/** An event with its delivery options; created by `delivery`. */
export interface Delivery<Event extends ModelEvent<unknown>> {
  readonly event: Event;
  readonly options: DeliveryOptions;
}

/** An event with delivery options, for `HandlerSpec.when`. */
export function delivery<Event extends ModelEvent<unknown>>(
  event: Event,
  options: DeliveryOptions,
): Delivery<Event> {
  return { event, options };
}

const SPEC_ACTION: SourceAction = Object.freeze({
  name: 'spec',
  principal: 'spec',
  params: Object.freeze({}),
});

/**
 * Specifies one event handler without a database: `await spec.given(account).when(new
 * BookingConfirmedEvent(...)).thenRuns({ action, params })`. The handler receives a real envelope; its actions run on
 * the given models. Immutable, so tests may share one.
 */
export class HandlerSpec<Event extends ModelEvent<unknown>> {
  readonly #handler: HandlerClass<Event>;
  readonly #setting: SpecSetting;

  /** @internal use `applicationSpecs` */
  constructor(handler: HandlerClass<Event>, setting: SpecSetting) {
    this.#handler = handler;
    this.#setting = setting;
  }

  /** Stores these models at the versions that they have, without their pending events. */
  given(...models: readonly Entity[]): HandlerSpec<Event> {
    const all = [...this.#setting.models, ...models];
    return new HandlerSpec(this.#handler, { ...this.#setting, models: all });
  }

  /**
   * Delivers these events, one after the other, each once and to a new handler, as in production. The same event given
   * twice is redelivered with its id: actions of `envelope.execute` are not repeated. An error of the handler ends the
   * deliveries.
   *
   * @throws UnknownHandlerError (when awaited) if the application has no handler of this class
   * @throws ValidationError (when awaited) for a transactional handler, which needs a database
   */
  when(...deliveries: readonly (Event | Delivery<Event>)[]): HandlerOutcome {
    return new HandlerOutcome(this.#deliver(deliveries));
  }

  async #deliver(deliveries: readonly (Event | Delivery<Event>)[]): Promise<Handled> {
    const { application, clock, models } = this.#setting;
    const run = memoryApplication(application, { clock, models });
    const descriptor = this.#descriptorAmong(run.handlers);
    const runs: { readonly action: { readonly name: string }; readonly params: unknown }[] = [];
    const executor: ActionRunner = {
      execute: (principal, action, params, configuration) => {
        runs.push({ action, params });
        return run.executor.execute(principal, action, params, configuration);
      },
    };
    const attempts = new HandlerAttempts(descriptor, executor, () => 0);
    const { signal } = new AbortController();
    const context = { identity: descriptor.name, again: undefined, signal };
    const logged = new Map<Event, LoggedEvent>();
    const calls: RecordedCall[] = [];
    await recording(calls, async () => {
      for (const each of deliveries) {
        const { event, options } = each instanceof ModelEvent ? delivery(each, {}) : each;
        const earlier = logged.get(event);
        const isAgain = earlier !== undefined && parseUuid(options.id ?? earlier.id) === earlier.id;
        const known = isAgain ? earlier : this.#logged(run, event, options);
        logged.set(event, known);
        const { attempt: number = 1, replayed = false } = options;
        await attempts.handle(known, { number, transaction: undefined }, { ...context, replayed });
      }
    });
    run.databases.requireNoQuery();
    return { ...performedIn(run, undefined), runs, calls };
  }

  #logged({ log, databases }: MemoryApplication, event: Event, options: DeliveryOptions): LoggedEvent {
    const { modelVersion = this.#versionOf(event), action = SPEC_ACTION } = options;
    const shard = this.#shardOf(event, databases.defaultShard);
    const id = parseUuid(options.id ?? uuid7.next(shard.bits));
    const actionId = parseUuid(options.actionId ?? uuid7.next(shard.bits));
    const createdDate = this.#setting.clock.now();
    return log.entry(event, { id, actionId, action, shard, createdDate, modelVersion });
  }

  #versionOf(event: Event): number {
    const [id, name] = [event.getModelId(), event.getModelName()];
    const model = this.#setting.models.find(
      (each) => each.id.getValue() === id && each.id.modelName === name,
    );
    return model?.version ?? 1;
  }

  #shardOf(event: Event, defaultShard: ShardIdentifier): ShardIdentifier {
    const descriptor = this.#setting.application.definition.models.find(
      ({ name }) => name === event.getModelName(),
    );
    return descriptor?.sharded === true ? shardOfUuid(parseUuid(event.getModelId())) : defaultShard;
  }

  #descriptorAmong(handlers: readonly HandlerDescriptor[]): HandlerDescriptor {
    const { prototype, name } = this.#handler;
    const found = handlers.find(({ create }) => Object.getPrototypeOf(create()) === prototype);
    if (found === undefined) {
      throw new UnknownHandlerError(
        `${name} is no handler of the application; mark it with @FwEventHandler and run fw-gen generate`,
      );
    }
    if (found.transactional === true) {
      throw new ValidationError(
        `${name} is transactional: it writes through envelope.transaction. Test it on a database.`,
      );
    }
    return found;
  }
}
