import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { Clock } from '../domain/clock.js';
import type { EventDescriptor } from '../domain/descriptor.js';
import { UnknownActionError, ValidationError } from '../errors.js';
import type { HandlerDescriptor } from '../events/delivery/handler-descriptor.js';
import type { ActionRunner } from '../execution/action-executor.js';
import { Repository, type RepositoryContext } from '../persistence/read/repository.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { sharedActions } from './saga-actions.js';
import { SagaDefinition } from './saga-definition.js';
import type { SagaDescriptor } from './saga-descriptor.js';
import { DEFAULT_MAXIMUM_ATTEMPTS, SagaDriver, type SagaDriverOptions } from './saga-driver.js';
import { sagaWokenEvent } from './saga-run.js';
import { SagaRunRepository } from './saga-run-repository.js';
import { registerStep, type SagaKit } from './step-action.js';
import { failureKind } from './step-failure.js';
import { stepRecordModel } from './step-record.js';

export interface SagaRuntimeOptions {
  readonly sagas: readonly SagaDescriptor[];
  readonly events: readonly EventDescriptor[];
  /** The application's actions. */
  readonly actions: readonly ActionDescriptor[];
  readonly context: RepositoryContext;
  readonly clock: Clock;
  /** Default: those of the context. */
  readonly runs?: SagaRunRepository;
}

type RunnableSaga = Pick<SagaDriverOptions, 'definition' | 'steps'>;

/** The sagas of an application: the actions that they register, and the handlers that drive them. */
export class SagaRuntime {
  /** Actions to register in addition to those of the application. */
  readonly actions: readonly ActionDescriptor[];
  readonly #kit: SagaKit;
  readonly #sagas: readonly RunnableSaga[];

  /**
   * @throws ValidationError if two sagas share a name, or a saga is invalid
   * @throws UnknownActionError if the action of a step is not registered
   */
  constructor(options: SagaRuntimeOptions) {
    const { sagas, events, actions, context, clock } = options;
    const records = new Repository(context, stepRecordModel);
    const { runs = new SagaRunRepository(context) } = options;
    const kit: SagaKit = { clock, runs, records };
    this.#kit = kit;
    this.#sagas = sagas.map((descriptor) => {
      const definition = new SagaDefinition(descriptor, events, context);
      const registered = [...definition.actionSteps].map(
        ([state, step]) => [state, registerStep(definition, { state, step }, actions, kit)] as const,
      );
      return { definition, steps: new Map(registered) };
    });
    this.#requireNames();
    const steps = this.#sagas.flatMap((each) => [...each.steps.values()]);
    const shared = sagas.length === 0 ? [] : sharedActions(kit, (name) => this.#find(name));
    // A look-up by class returns the action with its own types.
    this.actions = [...shared, ...(steps as unknown as readonly ActionDescriptor[])];
  }

  /** One handler per saga, with the saga's name. */
  handlers(executor: ActionRunner): readonly HandlerDescriptor[] {
    return this.#sagas.map(({ definition, steps }) => {
      const { name, aliases, concurrency } = definition.saga;
      const limits = [...definition.actionSteps.values()].map((step) => step.maximumAttempts ?? 0);
      const driver = new SagaDriver({ definition, steps, kit: this.#kit, executor });
      return {
        name,
        aliases,
        concurrency,
        // A failure within a step's own limit must not become a dead letter.
        maximumAttempts: Math.max(DEFAULT_MAXIMUM_ATTEMPTS, ...limits),
        passes: (error) => failureKind(error) === 'passing',
        events: [...definition.events, sagaWokenEvent],
        create: () => driver,
      };
    });
  }

  /** A line for each step of this shard's running sagas that this release does not have. */
  async missingSteps(database: ShardDatabase): Promise<readonly string[]> {
    const { rows } = await database.query({ text: STEPS, values: [] });
    const missing = rows.filter(
      ([name, step]) =>
        this.#sagas
          .find(({ definition }) => definition.names.includes(String(name)))
          ?.definition.step(String(step)) === undefined,
    );
    return missing.map(
      ([name, step, count]) =>
        `${count} of ${name} on shard ${database.shard} wait in step ${step}, which this release does not have, for a ` +
        `process of a release that has it: see fw-gen sagas list --saga ${name} --step ${step}`,
    );
  }

  /** @throws UnknownActionError for a saga that is not part of the application */
  #find(name: string): SagaDefinition {
    const found = this.#sagas.find(({ definition }) => definition.names.includes(name));
    if (found === undefined) throw new UnknownActionError(`There is no saga ${name}`);
    return found.definition;
  }

  #requireNames(): void {
    const seen = new Set<string>();
    for (const name of this.#sagas.flatMap(({ definition }) => definition.names)) {
      if (seen.has(name)) throw new ValidationError(`Two sagas are named ${name}`);
      seen.add(name);
    }
  }
}

const STEPS = `SELECT saga, step, count(*) FROM eventlog.sagas WHERE state <> 'ENDED'
GROUP BY saga, step ORDER BY saga, step`;
