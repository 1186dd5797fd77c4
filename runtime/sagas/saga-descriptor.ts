import type { ModelDescriptor } from '../domain/entity.js';
import type { Model } from '../domain/model.js';
import { nameClass } from '../domain/stored-names.js';
import type { Saga, SagaClass } from './saga.js';

/** A saga class as the runtime uses it; emitted by the generator. */
export interface SagaDescriptor {
  /** The descriptor of the saga's state model. */
  readonly model: ModelDescriptor<Model>;
  readonly create: () => Saga<Model>;
}

/**
 * Describes a saga as data. A model other than the saga's state model is a compile error.
 *
 * @param name the stored name of a saga that declares none of its own: a literal, which a minifier leaves alone
 */
export function defineSaga<M extends Model>(
  model: ModelDescriptor<M>,
  sagaClass: SagaClass<M>,
  name: string,
): SagaDescriptor {
  const create = (): Saga<M> => {
    nameClass(sagaClass, name);
    return new sagaClass();
  };
  // Only the saga itself reads its state, and the signature binds it to its model.
  return { model, create } as unknown as SagaDescriptor;
}
