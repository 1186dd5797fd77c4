import { copyWith, descriptorOf, type Entity } from '../domain/entity.js';
import { ownValues } from '../domain/frozen-document.js';
import { ValidationError } from '../errors.js';

/**
 * The model as a repository would return it: the same fields, frozen documents, no pending events.
 *
 * @param version the stored version; default: the model's own
 * @throws ValidationError unless `version` is an integer of at least 1
 */
export function persisted<M extends Entity>(model: M, version: number = model.version): M {
  if (!Number.isInteger(version) || version < 1) {
    throw new ValidationError(`A stored version is an integer of at least 1, got ${version}`);
  }
  const descriptor = descriptorOf(model);
  return copyWith(descriptor, model, { ...ownValues(descriptor, model), version }) as M;
}
