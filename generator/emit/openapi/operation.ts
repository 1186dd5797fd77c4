import type { ActionSchema } from '../../schema/project-schema.js';
import type { FieldSchema } from '../../schema/type-schema.js';
import { at, type Code, Members } from '../print/code.js';
import type { RoutedAction } from '../routes.js';
import type { Components } from './components.js';
import { documentedField } from './documented-schema.js';
import { exampleOf } from './example.js';
import { RESPONSE_HEADERS } from './headers.js';
import type { ProblemStatus } from './problems.js';

/** One operation of the document. */
export function operation(routed: RoutedAction, components: Components): Code {
  const { action, route } = routed;
  const comment = action.description?.split(/\n\s*\n/) ?? [];
  const [first, ...rest] = comment;
  const description = route.summary === undefined ? rest.join('\n\n') : action.description;
  const summary = route.summary ?? first?.replaceAll('\n', ' ');
  const parameters = operationParameters(routed, components);
  return at(route.location, {
    operationId: action.className,
    summary,
    description: description === '' || description === undefined ? summary : description,
    tags: route.tag === undefined ? undefined : [route.tag],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: requestBody(routed, components),
    responses: responses(routed, components),
  });
}

function operationParameters({ route, path, query }: RoutedAction, components: Components): readonly Code[] {
  return [
    ...path.map((field) => parameter(field, 'path', components)),
    ...query.map((field) => parameter(field, 'query', components)),
    ...(hasFreshness(route) ? [components.header('IfNoneMatch')] : []),
    ...(route.ifMatch === undefined ? [] : [components.header('IfMatch')]),
    ...(route.method === 'POST' ? [components.header('IdempotencyKey')] : []),
  ];
}

/** A GET of a model whose version callers know. */
function hasFreshness({ method, etag }: RoutedAction['route']): boolean {
  return method === 'GET' && etag !== undefined;
}

function parameter(field: FieldSchema, place: 'path' | 'query', components: Components): Code {
  const schema = documentedField(field, {
    direction: 'request',
    isSharded: (model) => components.isSharded(model),
    currency: () => components.currency(),
    nested: () => undefined,
  });
  const { description, ...rest }: { readonly [key: string]: Code | undefined } = isObject(schema)
    ? schema
    : {};
  return { name: field.name, in: place, description, required: !field.optional, schema: rest };
}

function requestBody({ action, route, body }: RoutedAction, components: Components): Code | undefined {
  if (body.length === 0) return undefined;
  const name = `${action.className.replace(/Action$/, '')}Request`;
  const schema = components.object(requestKey(action), name, 'request', body);
  return {
    required: body.some((field) => !field.optional),
    content: { 'application/json': { schema, example: route.example } },
  };
}

/** What the schema of an action's body is known by among the components. */
export function requestKey({ className }: ActionSchema): string {
  return `request ${className}`;
}

function responses(routed: RoutedAction, components: Components): Code {
  const problems = problemStatuses(routed).map(
    (status) => [String(status), components.problem(status)] as const,
  );
  const fresh = hasFreshness(routed.route) ? [['304', NOT_MODIFIED] as const] : [];
  return new Members([
    [String(routed.status), success(routed, components)] as const,
    ...fresh,
    ...problems,
    ['default', components.failure()] as const,
  ]);
}

const NOT_MODIFIED: Code = {
  description: 'The model still has the version that `If-None-Match` names.',
  headers: { ETag: RESPONSE_HEADERS.ETag },
};

function success({ route, status }: RoutedAction, components: Components): Code {
  const { response } = route;
  const isRead = route.method === 'GET' && response !== undefined;
  const headers = {
    ETag: route.etag === undefined ? undefined : RESPONSE_HEADERS.ETag,
    Location: route.locationHeader === undefined ? undefined : RESPONSE_HEADERS.Location,
    'Cache-Control': isRead ? RESPONSE_HEADERS['Cache-Control'] : undefined,
    'Idempotency-Replayed': route.method === 'POST' ? RESPONSE_HEADERS['Idempotency-Replayed'] : undefined,
  };
  const isBare = Object.values(headers).every((header) => header === undefined);
  const schema =
    response === undefined
      ? undefined
      : components.object(
          `${response.file}#${response.name}`,
          response.name,
          'response',
          response.fields,
          response.description,
        );
  return {
    description: response?.description ?? (status === 204 ? 'Done.' : 'Success.'),
    headers: isBare ? undefined : headers,
    content:
      schema === undefined || response === undefined
        ? undefined
        : { 'application/json': { schema, example: exampleOf(response.fields) } },
  };
}

function problemStatuses({ action, route, body }: RoutedAction): readonly ProblemStatus[] {
  const writes = route.method !== 'GET';
  return [
    ...(action.params.length > 0 ? [400 as const] : []),
    ...(action.params.some(({ type }) => type.kind === 'id') ? [404 as const] : []),
    ...(writes ? [409 as const] : []),
    ...(route.ifMatch === undefined ? [] : [412 as const]),
    ...(body.length > 0 ? [413 as const, 415 as const] : []),
    ...(route.method === 'POST' ? [422 as const] : []),
    503,
    ...(writes ? [504 as const] : []),
  ];
}

function isObject(code: Code): code is { readonly [key: string]: Code | undefined } {
  return typeof code === 'object' && code !== null && !Array.isArray(code);
}
