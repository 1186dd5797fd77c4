import type { ModelDescriptor } from '../domain/entity.js';
import type { Model } from '../domain/model.js';
import type { Saga } from './saga.js';

/** A saga class as the runtime uses it; emitted by the generator. */
export interface SagaDescriptor {
  /** The descriptor of the saga's state model. */
  readonly model: ModelDescriptor<Model>;
  readonly create: () => Saga<Model>;
}

/** Describes a saga as data. A model other than the saga's state model is a compile error. */
export function defineSaga<M extends Model>(
  model: ModelDescriptor<M>,
  create: () => Saga<M>,
): SagaDescriptor {
  // Only the saga itself reads its state, and the signature binds it to its model.
  return { model, create } as unknown as SagaDescriptor;
}
