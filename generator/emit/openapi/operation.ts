import type { ActionSchema } from '../../schema/project-schema.js';
import type { FieldSchema } from '../../schema/type-schema.js';
import { at, type Code, Members } from '../print/code.js';
import type { RoutedAction } from '../routes.js';
import type { Components } from './components.js';
import { documentedField } from './documented-schema.js';
import { RESPONSE_HEADERS } from './headers.js';
import type { ProblemStatus } from './problems.js';

/** One operation of the document. */
export function operation(routed: RoutedAction, components: Components): Code {
  const { action, route } = routed;
  const comment = action.description?.split(/\n\s*\n/) ?? [];
  const [first, ...rest] = comment;
  const description = route.summary === undefined ? rest.join('\n\n') : action.description;
  const parameters = operationParameters(routed, components);
  return at(route.location, {
    operationId: action.className,
    summary: route.summary ?? first?.replaceAll('\n', ' '),
    description: description === '' ? undefined : description,
    tags: route.tag === undefined ? undefined : [route.tag],
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: requestBody(routed, components),
    responses: responses(routed, components),
  });
}

function operationParameters({ route, path, query }: RoutedAction, components: Components): readonly Code[] {
  return [
    ...path.map((field) => parameter(field, 'path')),
    ...query.map((field) => parameter(field, 'query')),
    ...(route.ifMatch === undefined ? [] : [components.header('IfMatch')]),
    ...(route.method === 'POST' ? [components.header('IdempotencyKey')] : []),
  ];
}

function parameter(field: FieldSchema, place: 'path' | 'query'): Code {
  const schema = documentedField(field, {
    direction: 'request',
    isSharded: () => false,
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
  return new Members([[String(routed.status), success(routed, components)] as const, ...problems]);
}

function success({ route, status }: RoutedAction, components: Components): Code {
  const { response } = route;
  const headers = {
    ETag: route.etag === undefined ? undefined : RESPONSE_HEADERS.ETag,
    Location: route.locationHeader === undefined ? undefined : RESPONSE_HEADERS.Location,
  };
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
    headers: headers.ETag === undefined && headers.Location === undefined ? undefined : headers,
    content: schema === undefined ? undefined : { 'application/json': { schema } },
  };
}

function problemStatuses({ action, route, path, body }: RoutedAction): readonly ProblemStatus[] {
  const writes = route.method !== 'GET';
  return [
    ...(action.params.length > 0 ? [400 as const] : []),
    ...(path.length > 0 ? [404 as const] : []),
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
