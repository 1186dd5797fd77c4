import { descriptorOf, type Entity, instantiate } from '../domain/entity.js';
import { ValidationError } from '../errors.js';

/**
 * The model as a repository would return it: the same fields, no pending events.
 *
 * @param version the stored version; default: the model's own
 * @throws ValidationError unless `version` is an integer of at least 1
 */
export function persisted<M extends Entity>(model: M, version: number = model.version): M {
  if (!Number.isInteger(version) || version < 1) {
    throw new ValidationError(`A stored version is an integer of at least 1, got ${version}`);
  }
  const descriptor = descriptorOf(model);
  const source = model as unknown as Readonly<Record<string, unknown>>;
  const values: Record<string, unknown> = {};
  for (const { field } of descriptor.columns) values[field] = field === 'version' ? version : source[field];
  return instantiate(descriptor, values) as M;
}
