import type { ActionSchema, ProjectSchema, RouteSchema } from '../schema/project-schema.js';
import { pathParameters } from '../schema/route-path.js';
import type { FieldSchema } from '../schema/type-schema.js';

/** An action that is served over HTTP, and where each of its params comes from. */
export interface RoutedAction {
  readonly action: ActionSchema;
  readonly route: RouteSchema;
  readonly path: readonly FieldSchema[];
  readonly query: readonly FieldSchema[];
  readonly body: readonly FieldSchema[];
  readonly status: number;
}

/** All routes, in the order of their actions. */
export function routedActions(schema: ProjectSchema): readonly RoutedAction[] {
  return schema.actions.flatMap((action) =>
    action.route === undefined ? [] : [routedAction(action, action.route)],
  );
}

function routedAction(action: ActionSchema, route: RouteSchema): RoutedAction {
  const inPath = pathParameters(route.path);
  const rest = action.params.filter((field) => !inPath.includes(field.name));
  // A body of GET and DELETE has no meaning that everybody between client and server agrees on.
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
  return {
    action,
    route,
    path: inPath.flatMap((name) => action.params.filter((field) => field.name === name)),
    query: hasBody ? [] : rest,
    body: hasBody ? rest : [],
    status: route.status?.value ?? (route.response === undefined ? 204 : 200),
  };
}
