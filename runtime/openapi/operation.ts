import { defined } from '../domain/defined.js';
import type { FieldDescriptor } from '../domain/descriptor.js';
import { type JsonPart, membersOf } from '../domain/kinds/json-schema.js';
import type { Components } from './components.js';
import { accessStatuses, type DocumentedAccess } from './documented-access.js';
import { type DocumentedRoute, type ParamPlaces, placesOf } from './documented-route.js';
import { exampleOf } from './example.js';
import { CONTENT_TAG, RESPONSE_HEADERS } from './headers.js';
import type { ProblemStatus } from './problems.js';

/** One operation of the document. */
export function operation(
  route: DocumentedRoute,
  components: Components,
  access: DocumentedAccess,
): JsonPart {
  const places = placesOf(route);
  const parameters = operationParameters(route, places, components);
  return defined({
    operationId: route.operation,
    ...proseOf(route),
    tags: route.tag === undefined ? undefined : [route.tag],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: requestBody(route, places, components),
    responses: responses(route, places, components, access),
  });
}

/** Summary and description: the first paragraph of a comment is the summary, unless the route has its own. */
function proseOf({ doc, summary: own }: DocumentedRoute): JsonPart {
  const [first, ...rest] = doc?.split(/\n\s*\n/) ?? [];
  const summary = own ?? first?.replaceAll('\n', ' ');
  const description = own === undefined ? rest.join('\n\n') : doc;
  return { summary, description: description === '' || description === undefined ? summary : description };
}

function operationParameters(
  route: DocumentedRoute,
  { path, query }: ParamPlaces,
  components: Components,
): readonly JsonPart[] {
  return [
    ...path.map((field) => parameter(field, 'path', components)),
    ...query.map((field) => parameter(field, 'query', components)),
    ...(hasFreshness(route) ? [components.header('IfNoneMatch')] : []),
    ...(route.ifMatch === undefined ? [] : [components.header('IfMatch')]),
    ...(route.method !== 'GET' ? [components.header('IdempotencyKey')] : []),
    ...(streams(route) ? [components.header('LastEventID')] : []),
  ];
}

/** Whether the route supports conditional requests. */
function hasFreshness({ method, response }: DocumentedRoute): boolean {
  return method === 'GET' && response !== undefined;
}

/** The tag of a model is its version; any other answer has a tag of its content. */
function tagOf(route: DocumentedRoute): JsonPart | undefined {
  if (route.etag !== undefined) return RESPONSE_HEADERS.ETag;
  return hasFreshness(route) ? CONTENT_TAG : undefined;
}

/** Whether callers may request a stream of events. */
function streams({ method, feed }: DocumentedRoute): boolean {
  return method === 'GET' && feed !== undefined;
}

/** Server-sent events. */
const EVENT_STREAM: JsonPart = {
  'text/event-stream': {
    schema: {
      type: 'string',
      description:
        'One message per event: `id` is the version of the model, `event` the type, `data` the JSON.',
    },
  },
};

function parameter(field: FieldDescriptor, place: 'path' | 'query', components: Components): JsonPart {
  const { description, ...schema } = components.parameter(field);
  return defined({ name: field.name, in: place, description, required: field.optional !== true, schema });
}

function requestBody(
  { operation: name, example }: DocumentedRoute,
  { body }: ParamPlaces,
  components: Components,
): JsonPart | undefined {
  if (body.length === 0) return undefined;
  const schema = components.request(`${name.replace(/Action$/, '')}Request`, body);
  return {
    required: body.some(({ optional }) => optional !== true),
    content: { 'application/json': defined({ schema, example }) },
  };
}

function responses(
  route: DocumentedRoute,
  places: ParamPlaces,
  components: Components,
  access: DocumentedAccess,
): JsonPart {
  const refusals = [...problemStatuses(route, places), ...accessStatuses(route, access)].sort(
    (a, b) => a - b,
  );
  return membersOf([
    [String(route.status), success(route, components)],
    ...(hasFreshness(route) ? [['304', notModified(route)] as const] : []),
    ...refusals.map((status) => [String(status), components.problem(status)] as const),
    ['default', components.failure()],
  ]);
}

function notModified(route: DocumentedRoute): JsonPart {
  const description =
    route.etag === undefined
      ? 'The response would be the one that `If-None-Match` names.'
      : 'The model still has the version that `If-None-Match` names.';
  return defined({ description, headers: defined({ ETag: tagOf(route) }) });
}

function success(route: DocumentedRoute, components: Components): JsonPart {
  const { method, status, response, location } = route;
  const headers = defined({
    ETag: tagOf(route),
    Location: location === undefined ? undefined : RESPONSE_HEADERS.Location,
    'Cache-Control': hasFreshness(route) ? RESPONSE_HEADERS['Cache-Control'] : undefined,
    'Idempotency-Replayed': method !== 'GET' ? RESPONSE_HEADERS['Idempotency-Replayed'] : undefined,
  });
  return defined({
    description: response?.type.doc ?? (status === 204 ? 'Done.' : 'Success.'),
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    content:
      response === undefined
        ? undefined
        : {
            'application/json': defined({
              schema: components.response(response.type),
              example: exampleOf(response.type.fields),
            }),
            ...(streams(route) ? EVENT_STREAM : {}),
          },
  });
}

function problemStatuses(
  { method, params, ifMatch }: DocumentedRoute,
  { body }: ParamPlaces,
): readonly ProblemStatus[] {
  const writes = method !== 'GET';
  return [
    ...(params.length > 0 ? [400 as const] : []),
    ...(params.some(({ type }) => type.kind === 'id') ? [404 as const] : []),
    ...(writes ? [409 as const] : []),
    ...(ifMatch === undefined ? [] : [412 as const]),
    ...(body.length > 0 ? [413 as const, 415 as const] : []),
    ...(writes ? [422 as const] : []),
    503,
    ...(writes ? [504 as const] : []),
  ];
}
