import type { DocumentedRoute } from '../../runtime/openapi/documented-route.js';
import type { ActionSchema, ProjectSchema, RouteSchema } from '../schema/project-schema.js';
import { FieldTypes, shardedModels } from './field-type.js';

/** Returns the routes of the OpenAPI document, in the order of their actions. */
export function documentedRoutes(schema: ProjectSchema): readonly DocumentedRoute[] {
  const types = new FieldTypes(shardedModels(schema.models));
  return schema.actions.flatMap((action) =>
    action.route === undefined ? [] : [documentedRoute(action, action.route, types)],
  );
}

function documentedRoute(
  { className, description, params, rule }: ActionSchema,
  route: RouteSchema,
  types: FieldTypes,
): DocumentedRoute {
  const { method, path, response, status, locationHeader, etag, ifMatch, feed, summary, tag, example } =
    route;
  return {
    ...{ method, path, operation: className },
    status: status?.value ?? (response === undefined ? 204 : 200),
    params: params.map((field) => types.field(field)),
    ...(description === undefined ? {} : { doc: description }),
    ...(response === undefined ? {} : { response: { type: types.named(response) } }),
    ...(locationHeader === undefined ? {} : { location: locationHeader.value }),
    ...(etag === undefined ? {} : { etag: etag.value }),
    ...(ifMatch === undefined ? {} : { ifMatch: ifMatch.value }),
    ...(feed === undefined ? {} : { feed: feed.value }),
    ...(summary === undefined ? {} : { summary }),
    ...(tag === undefined ? {} : { tag }),
    ...(rule === undefined ? {} : { rule }),
    ...(example === undefined ? {} : { example }),
  };
}
