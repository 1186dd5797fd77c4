import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { ProjectSchema } from '../schema/project-schema.js';

/** Routes whose actions carry no `@Allow`: every caller may run them, or none with `fw.access.default: deny`. */
export function routesWithoutRule({ actions }: Pick<ProjectSchema, 'actions'>): readonly Diagnostic[] {
  return actions.flatMap(({ className, rule, route }) =>
    route === undefined || rule !== undefined
      ? []
      : [
          diagnostic(
            'FWGEN060',
            route.location,
            `${route.method} ${route.path} has no rule: fw.access.default decides who may run ${className}`,
            'Add @Allow with a rule, or @Allow(everyone) if every caller may run it.',
          ),
        ],
  );
}
