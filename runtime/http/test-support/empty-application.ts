import type { ApplicationDefinition } from '../../application-definition.js';
import { CODEGEN_VERSION } from '../../codegen/version.js';

/** An application without models, actions and routes. */
export const emptyApplication: ApplicationDefinition = {
  codegenVersion: CODEGEN_VERSION,
  models: [],
  events: [],
  wire: () => [],
  routes: [],
  api: { title: 'Nothing', version: '1' },
  migrations: [],
};
