import type { Diagnostic } from '../diagnostics.js';
import type { ModelSchema, ProjectSchema } from '../schema/project-schema.js';
import { checkFields } from './check-fields.js';
import { checkHandlers } from './check-handlers.js';
import { checkModels } from './check-models.js';
import { checkNames } from './check-names.js';
import { checkPatternTimes } from './check-patterns.js';
import { checkRoutes } from './check-routes.js';
import { checkSagas } from './check-sagas.js';
import { checkWiring } from './check-wiring.js';

/**
 * Applies all rules that involve more than one declaration.
 *
 * @param part the declarations to which rules of single declarations are applied: those that no earlier run has
 *   accepted
 */
export function checkSchema(schema: ProjectSchema, part: ProjectSchema = schema): readonly Diagnostic[] {
  return [
    ...checkNames(schema),
    ...checkFields(part, schema),
    ...checkPatternTimes(part),
    ...checkModels(part),
    ...checkRoutes(schema, part),
    ...checkHandlers(schema),
    ...checkSagas(schema),
    ...checkWiring(schema),
  ];
}

/** The rules of models and params by themselves, for some models of a schema and all of its actions. */
export function checkBodies(schema: ProjectSchema, models: readonly ModelSchema[]): readonly Diagnostic[] {
  const part = { ...schema, models };
  return [
    ...checkFields(part, schema),
    ...checkPatternTimes(part),
    ...checkModels(part),
    ...checkRoutes(part),
  ];
}
