import type { ActionRegistry } from '../action/action-registry.js';
import { ExecutionConfiguration, runUnderOwnKey } from '../action/execution-configuration.js';
import type { PlannedSchedule } from '../action/planned-schedule.js';
import { shardOfUuid } from '../domain/id.js';
import { uuid7 } from '../domain/id-source.js';
import type { JsonObject } from '../domain/json.js';
import { compileObjectReader } from '../domain/json-reader.js';
import { compileObjectWriter } from '../domain/json-writer.js';
import type { KnownPrincipal } from '../domain/principal.js';
import { isOutOfReach } from '../events/delivery/handler-attempts.js';
import { attemptPauseMs, MAXIMUM_ATTEMPTS, passingPauseMs } from '../events/schedules/scheduled-work.js';
import type { ActionRunner } from '../execution/action-executor.js';
import type { Agenda } from './agenda.js';
import type { MemoryCommit } from './memory-executor.js';

interface ScheduledOnce extends Pick<PlannedSchedule, 'actionClass' | 'params'> {
  readonly id: string;
  readonly principal: KnownPrincipal;
}

/** Runs scheduled actions at their time on the agenda, with params restored from JSON, under their own keys. */
export class MemorySchedules {
  readonly #registry: ActionRegistry;
  readonly #executor: ActionRunner;
  readonly #agenda: Agenda;
  readonly #cancelled = new Set<string>();

  constructor(registry: ActionRegistry, executor: ActionRunner, agenda: Agenda) {
    this.#registry = registry;
    this.#executor = executor;
    this.#agenda = agenda;
  }

  /** Applies the scheduled and cancelled actions of a commit. */
  admit({ principal, performed }: MemoryCommit): void {
    for (const id of performed.cancelledSchedules) this.#cancelled.add(id);
    for (const { settledId, dueDate, actionClass, params } of performed.schedules) {
      const scheduled = { id: settledId ?? uuid7.next(0), actionClass, params, principal };
      this.#agenda.enter(dueDate.getTime(), () => this.#run(scheduled));
    }
  }

  async #run(scheduled: ScheduledOnce, attempts = 0, passed = 0): Promise<void> {
    const { id, actionClass, params, principal } = scheduled;
    if (this.#cancelled.has(id)) return;
    try {
      const { params: fields } = this.#registry.find(actionClass);
      const json = JSON.parse(compileObjectWriter(fields)(params)) as JsonObject;
      const configuration = ExecutionConfiguration.Builder.executionConfiguration();
      runUnderOwnKey(configuration, ['schedule', id], {
        home: shardOfUuid(id),
        expires: false,
        request: id,
      });
      // The reader inverts the writer that has encoded params of the class.
      const stored = compileObjectReader(fields)(json) as never;
      await this.#executor.execute(principal, actionClass, stored, configuration.build());
    } catch (error) {
      const passes = isOutOfReach(error);
      const failures = passes ? passed + 1 : attempts + 1;
      if (!passes && failures >= MAXIMUM_ATTEMPTS) return;
      const pauseMs = passes ? passingPauseMs(failures, shortest) : attemptPauseMs(failures, shortest);
      const again = passes ? ([attempts, failures] as const) : ([failures, 0] as const);
      this.#agenda.enter(this.#agenda.nowMs + pauseMs, () => this.#run(scheduled, ...again));
    }
  }
}

function shortest(): number {
  return 0;
}
