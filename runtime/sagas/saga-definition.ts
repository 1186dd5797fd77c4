import type { EventDescriptor } from '../domain/descriptor.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { ShardedId, shardOfUuid } from '../domain/id.js';
import type { Model } from '../domain/model.js';
import { ValidationError } from '../errors.js';
import { Repository, type RepositoryContext } from '../persistence/read/repository.js';
import type { Saga } from './saga.js';
import type { SagaDescriptor } from './saga-descriptor.js';
import { type AnyStep, type SagaStep, stepOf } from './saga-step.js';
import { type StepPlace, type StepRecord, stepRecordId } from './step-record.js';

/** A saga of an application, with the events and reads that its steps need. */
export class SagaDefinition {
  readonly saga: Saga<Model>;
  readonly model: ModelDescriptor<Model>;
  readonly states: Repository<Model>;
  /** The events of its state model. */
  readonly events: readonly EventDescriptor[];

  /** @throws ValidationError if its name or a time limit is invalid, its model is not sharded, or no event would start its steps */
  constructor(descriptor: SagaDescriptor, events: readonly EventDescriptor[], context: RepositoryContext) {
    this.saga = descriptor.create();
    this.model = descriptor.model;
    this.states = new Repository(context, descriptor.model);
    this.events = events.filter(({ model }) => model === descriptor.model.name);
    const { name } = this.saga;
    if (!NAME.test(name)) {
      throw new ValidationError(
        `A saga's name has 1 to 80 visible ASCII characters and no #, got ${JSON.stringify(name)}`,
      );
    }
    if (!this.model.sharded) throw new ValidationError(`${name} needs a state model with a sharded id`);
    if (this.events.length === 0) throw new ValidationError(`${name} needs a state model with events`);
    const own = new Set<unknown>(this.events.map(({ eventClass }) => eventClass()));
    for (const [state, step] of Object.entries<AnyStep<Model> | undefined>(this.saga.steps)) {
      const limit = step?.action === undefined ? step?.until : step.timeoutMs;
      if (typeof limit === 'number' && !(limit >= 0 && limit <= LONGEST_LIMIT_MS))
        throw new ValidationError(
          `${name} has the time limit ${limit} in ${state}: it must be from 0 to ${LONGEST_LIMIT_MS} milliseconds`,
        );
      const foreign = step?.action === undefined && step?.for.find((each) => !own.has(each));
      if (foreign)
        throw new ValidationError(
          `${name} waits in ${state} for ${foreign.name}, which is no event of its model`,
        );
    }
  }

  get names(): readonly string[] {
    return [this.saga.name, ...this.saga.aliases];
  }

  /** The steps that run an action, by state. */
  get actionSteps(): ReadonlyMap<string, SagaStep<Model>> {
    const steps = Object.keys(this.saga.steps).map((state) => [state, this.step(state)] as const);
    return new Map(steps.flatMap(([state, step]) => (step?.action === undefined ? [] : [[state, step]])));
  }

  step(state: string): AnyStep<Model> | undefined {
    return stepOf(this.saga, state);
  }
}

/** A hundred years: a later date may not be one of the database. */
const LONGEST_LIMIT_MS = 100 * 366 * 86_400_000;
const NAME = /^[\x21-\x22\x24-\x7e]{1,80}$/;

/**
 * The id of a step's record, on the shard that the step's action writes to. Undefined: that is the saga's own shard.
 *
 * @param params of the action
 */
export function recordOf(
  step: SagaStep<Model>,
  { state, params, place }: { readonly state: Model; readonly params: object; readonly place: StepPlace },
): ShardedId<StepRecord> | undefined {
  const home = shardOfUuid(state.id.getValue());
  const id = step.on?.(state) ?? Object.values(params).find((value) => value instanceof ShardedId);
  const shard = id?.resolveShardIdentifier() ?? home;
  return shard === home ? undefined : stepRecordId(place, shard);
}
