import type { ModelDescriptor } from '../domain/entity.js';
import type { Model } from '../domain/model.js';
import type { Saga } from './saga.js';

/** What the runtime must know about a saga class; emitted by the generator. */
export interface SagaDescriptor {
  /** Of the saga's state model. */
  readonly model: ModelDescriptor<Model>;
  readonly create: () => Saga<Model>;
}

/** Gives the saga as data: a model that is not its state is a compile error. */
export function defineSaga<M extends Model>(
  model: ModelDescriptor<M>,
  create: () => Saga<M>,
): SagaDescriptor {
  // Only the saga itself reads its state, and the signature binds it to its model.
  return { model, create } as unknown as SagaDescriptor;
}
