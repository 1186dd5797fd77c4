import type { Diagnostic } from '../diagnostics.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { checkFields } from './check-fields.js';
import { checkHandlers } from './check-handlers.js';
import { checkMigrationOrder } from './check-migrations.js';
import { checkModels } from './check-models.js';
import { checkNames } from './check-names.js';
import { checkPatterns } from './check-patterns.js';
import { checkRoutes } from './check-routes.js';
import { checkSagas } from './check-sagas.js';
import { checkWiring } from './check-wiring.js';

/** Applies all rules that involve more than one declaration. */
export function checkSchema(schema: ProjectSchema): readonly Diagnostic[] {
  return [
    ...checkNames(schema),
    ...checkFields(schema),
    ...checkPatterns(schema),
    ...checkModels(schema),
    ...checkRoutes(schema),
    ...checkHandlers(schema),
    ...checkSagas(schema),
    ...checkWiring(schema),
    ...checkMigrationOrder(schema.migrations),
  ];
}
