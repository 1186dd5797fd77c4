import type { DocumentedRoute } from '../../runtime/openapi/documented-route.js';
import { defined } from '../schema/defined.js';
import type { ActionSchema, ProjectSchema, RouteSchema } from '../schema/project-schema.js';
import { FieldTypes } from './field-type.js';

/** Returns the routes of the OpenAPI document, in the order of their actions. */
export function documentedRoutes(schema: ProjectSchema): readonly DocumentedRoute[] {
  const types = new FieldTypes(schema.models);
  return schema.actions.flatMap((action) =>
    action.route === undefined ? [] : [documentedRoute(action, action.route, types)],
  );
}

function documentedRoute(
  { className, description, params, rule }: ActionSchema,
  route: RouteSchema,
  types: FieldTypes,
): DocumentedRoute {
  const { method, path, response, locationHeader, etag, ifMatch, feed, summary, tag, example } = route;
  return {
    ...{ method, path, operation: className },
    status: statusOf(route),
    params: params.map((field) => types.field(field)),
    ...defined({
      doc: description,
      response: response && { type: types.named(response) },
      location: locationHeader?.value,
      etag: etag?.value,
      ifMatch: ifMatch?.value,
      feed: feed?.value,
      ...{ summary, tag, rule, example },
    }),
  };
}

/** Returns the status of a route's successful responses. */
export function statusOf({ status, response }: Pick<RouteSchema, 'status' | 'response'>): number {
  return status?.value ?? (response === undefined ? 204 : 200);
}
