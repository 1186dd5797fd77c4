import type { ActionRegistry } from '../action/action-registry.js';
import type { FailureCount } from '../events/delivery/attempts.js';
import { HandlerAttempts } from '../events/delivery/handler-attempts.js';
import type { HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
import { type LoggedEvent, modelKeyOf } from '../events/log/event-record.js';
import type { DueAction } from '../events/schedules/schedule-store.js';
import { attemptScheduled } from '../events/schedules/scheduled-actions.js';
import type { ActionRunner } from '../execution/action-executor.js';
import type { Agenda } from './agenda.js';
import { jsonOf } from './memory-log.js';
import type { MemoryCommit } from './memory-store.js';

/** Pauses have no random part. */
const random = (): number => 0;

interface Waiting extends FailureCount {
  readonly event: LoggedEvent;
}

/**
 * Delivers events to one handler, in order per model, and runs scheduled actions, with the attempts and pauses of the
 * runtime on a virtual clock.
 */
export class MemoryProcess {
  readonly #handler: HandlerDescriptor;
  readonly #attempts: HandlerAttempts;
  readonly #agenda: Agenda;
  readonly #queues = new Map<string, Waiting[]>();
  readonly #scheduled = new Map<string, DueAction>();
  readonly #execution: Parameters<typeof attemptScheduled>[2];

  constructor(handler: HandlerDescriptor, executor: ActionRunner, registry: ActionRegistry, agenda: Agenda) {
    this.#handler = handler;
    this.#attempts = new HandlerAttempts(handler, executor, random);
    this.#agenda = agenda;
    this.#execution = { executor, registry, random, signal: new AbortController().signal };
  }

  /** Takes over the events of a commit, and what it has scheduled and cancelled. */
  admit({ plan }: MemoryCommit, events: readonly LoggedEvent[]): void {
    const names = new Set(this.#handler.events.map(({ name }) => name));
    for (const event of events) if (names.has(event.eventType)) this.#deliver(event);
    for (const id of plan.cancelledSchedules ?? []) this.#scheduled.delete(id);
    const { action } = plan;
    for (const { id, dueDate, actionName, params, paramsVersion, principal } of plan.schedules ?? []) {
      const due = {
        id,
        actionName,
        params: jsonOf(params) ?? {},
        paramsVersion,
        principal: principal ?? action.principal,
        claims: principal === undefined ? jsonOf(action.claims) : null,
      };
      this.#schedule(
        { ...due, traceContext: undefined, attempts: 0, isLeftBehind: false },
        Date.parse(dueDate),
      );
    }
  }

  #schedule(due: DueAction, atMs: number): void {
    this.#scheduled.set(due.id, due);
    this.#agenda.enter(atMs, async () => {
      if (this.#scheduled.has(due.id)) await this.#run(due);
    });
  }

  async #run(due: DueAction): Promise<void> {
    const failed = await attemptScheduled(due, 0, this.#execution);
    if (failed === undefined) this.#scheduled.delete(due.id);
    else if ('pauseMs' in failed.verdict) {
      const attempts = failed.verdict.kind === 'retry' ? due.attempts + 1 : due.attempts;
      this.#schedule({ ...due, attempts }, this.#agenda.nowMs + failed.verdict.pauseMs);
    }
  }

  #deliver(event: LoggedEvent): void {
    const key = modelKeyOf(event);
    const queue = this.#queues.get(key) ?? [];
    this.#queues.set(key, queue);
    queue.push({ event, attempts: 0, passed: 0 });
    if (queue.length === 1) this.#enter(queue, 0);
  }

  #enter(queue: Waiting[], pauseMs: number): void {
    this.#agenda.enter(this.#agenda.nowMs + pauseMs, () => this.#handleFirst(queue));
  }

  /** @throws the error of an event's last attempt, which would make it a dead letter */
  async #handleFirst(queue: Waiting[]): Promise<void> {
    const [first] = queue;
    if (first === undefined) return;
    const pauseMs = await this.#attempt(first);
    if (pauseMs === undefined) queue.shift();
    if (queue.length > 0) this.#enter(queue, pauseMs ?? 0);
  }

  /** Returns the pause before the next attempt; undefined if the event is handled. */
  async #attempt(waiting: Waiting): Promise<number | undefined> {
    const number = waiting.attempts + 1;
    const { signal } = new AbortController();
    const context = { identity: this.#handler.name, again: undefined, replayed: false, signal };
    try {
      await this.#attempts.handle(waiting.event, { number, transaction: undefined }, context);
      return undefined;
    } catch (error) {
      const verdict = this.#attempts.judge(error, waiting);
      if (!('pauseMs' in verdict)) throw error;
      waiting.passed = verdict.kind === 'pass' ? waiting.passed + 1 : 0;
      if (verdict.kind === 'retry') waiting.attempts = number;
      return verdict.pauseMs;
    }
  }
}
