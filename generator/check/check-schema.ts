import type { Diagnostic } from '../diagnostics.js';
import type { ModelSchema, ProjectSchema } from '../schema/project-schema.js';
import { checkFields } from './check-fields.js';
import { checkHandlers } from './check-handlers.js';
import { checkModels } from './check-models.js';
import { checkNames } from './check-names.js';
import { checkRoutes } from './check-routes.js';
import { checkSagas } from './check-sagas.js';
import { checkWiring } from './check-wiring.js';

/** All rules that need more than one declaration to be seen. */
export function checkSchema(schema: ProjectSchema): readonly Diagnostic[] {
  return [checkNames, checkFields, checkModels, checkRoutes, checkHandlers, checkSagas, checkWiring].flatMap(
    (check) => check(schema),
  );
}

/** The rules of what models and params hold by themselves, for some models of a schema and all of its actions. */
export function checkBodies(schema: ProjectSchema, models: readonly ModelSchema[]): readonly Diagnostic[] {
  const part = { ...schema, models };
  return [...checkFields(part, schema), ...checkModels(part), ...checkRoutes(part)];
}
