import { HandlerAttempts } from '../events/delivery/handler-attempts.js';
import type { HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
import { type LoggedEvent, modelKeyOf } from '../events/log/event-record.js';
import type { ActionRunner } from '../execution/action-executor.js';
import type { Agenda } from './agenda.js';

interface Waiting {
  readonly event: LoggedEvent;
  /** Failures that count as attempts. */
  failures: number;
  /** Consecutive failures that do not count. */
  passed: number;
}

/**
 * Delivers events to one handler as a process does: in order per model, with attempts and pauses, on a virtual clock.
 */
export class MemoryDelivery {
  readonly #handler: HandlerDescriptor;
  readonly #attempts: HandlerAttempts;
  readonly #names: ReadonlySet<string>;
  readonly #agenda: Agenda;
  readonly #queues = new Map<string, Waiting[]>();

  constructor(handler: HandlerDescriptor, executor: ActionRunner, agenda: Agenda) {
    this.#handler = handler;
    // Pauses have no random part.
    this.#attempts = new HandlerAttempts(handler, executor, () => 0);
    this.#names = new Set(handler.events.map(({ name }) => name));
    this.#agenda = agenda;
  }

  /** @throws (when the agenda runs) the error of an event's last attempt, which would make it a dead letter */
  admit(events: readonly LoggedEvent[]): void {
    for (const event of events.filter(({ eventType }) => this.#names.has(eventType))) {
      const key = modelKeyOf(event);
      const queue = this.#queues.get(key) ?? [];
      this.#queues.set(key, queue);
      queue.push({ event, failures: 0, passed: 0 });
      if (queue.length === 1) this.#enter(queue, 0);
    }
  }

  #enter(queue: Waiting[], pauseMs: number): void {
    this.#agenda.enter(this.#agenda.nowMs + pauseMs, () => this.#handleFirst(queue));
  }

  async #handleFirst(queue: Waiting[]): Promise<void> {
    const [first] = queue;
    if (first === undefined) return;
    const number = first.failures + 1;
    try {
      await this.#attempts.handle(
        first.event,
        { number, transaction: undefined },
        {
          identity: this.#handler.name,
          again: undefined,
          replayed: false,
          signal: new AbortController().signal,
        },
      );
    } catch (error) {
      if (this.#attempts.isLast(number, error)) throw error;
      if (this.#attempts.isPassing(error)) {
        first.passed += 1;
        return this.#enter(queue, this.#attempts.passingPauseMs(first.passed));
      }
      first.failures = number;
      return this.#enter(queue, this.#attempts.pauseMs(number));
    }
    queue.shift();
    if (queue.length > 0) this.#enter(queue, 0);
  }
}
