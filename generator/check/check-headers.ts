import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { ActionSchema, Located, RouteSchema } from '../schema/project-schema.js';
import { pathParameters } from '../schema/route-path.js';
import { type FieldSchema, isScalar } from '../schema/type-schema.js';

/** An action with a route. */
export type RoutedAction = ActionSchema & { readonly route: RouteSchema };

/** Rules of the route options for headers and ids: `etag`, `location`, `ifMatch` and `feed`. */
export function checkHeaders(action: RoutedAction): readonly Diagnostic[] {
  const { etag, locationHeader, ifMatch, feed } = action.route;
  return [
    ...list(etag).flatMap((field) => checkHeader(action, field, (name) => `etag: '${name}'`)),
    ...fieldsIn(locationHeader).flatMap((field) =>
      checkHeader(action, field, (name) => `location: '${renamed(locationHeader, field.value, name)}'`),
    ),
    ...list(ifMatch).flatMap((id) => checkIfMatch(action, id)),
    ...list(feed).flatMap((id) => checkFeed(action, id)),
    ...checkBody(action),
  ];
}

/** @param optionFor returns the option with another field */
function checkHeader(
  action: RoutedAction,
  { value, location }: Located<string>,
  optionFor: (name: string) => string,
): readonly Diagnostic[] {
  const { response } = action.route;
  const found = response?.fields.find((field) => field.name === value);
  // The mistake in the type of the field is reported at the field.
  if (found?.type.kind === 'unsupported' || isHeaderField(found)) return [];
  const message = `${JSON.stringify(value)} is not a required field of a simple type in the response`;
  return [diagnostic('FWGEN027', location, message, headerHint(action.route, value, optionFor))];
}

function headerHint({ response }: RouteSchema, field: string, optionFor: (name: string) => string): string {
  if (response === undefined)
    return `Map the result to a class with this field: \`{ response: NameResponse, ${optionFor(field)} }\`.`;
  const known = response.fields.filter(isHeaderField).map(({ name }) => optionFor(name));
  const declaration = `\`readonly ${field}!: string;\``;
  return known.length === 0
    ? `Declare it in ${response.name}: ${declaration}.`
    : `Write ${oneOf(known)}. For another field, declare it in ${response.name}: ${declaration}.`;
}

function checkIfMatch(action: RoutedAction, { value, location }: Located<string>): readonly Diagnostic[] {
  const ids = idsOf(action);
  if (ids.includes(value)) return [];
  const message = `${JSON.stringify(value)} is not an id parameter of ${action.className}`;
  const hint =
    ids.length === 0
      ? `Declare the id of the changed model as a parameter: \`${idForm(action, value)}\`.`
      : `Name the parameter that holds the id of the changed model: ${oneOf(ids.map((id) => `ifMatch: '${id}'`))}.`;
  return [diagnostic('FWGEN028', location, message, hint)];
}

function checkFeed(action: RoutedAction, { value, location }: Located<string>): readonly Diagnostic[] {
  const { method, path } = action.route;
  const ids = idsOf(action);
  const inPath = pathParameters(path);
  if (method === 'GET' && inPath.includes(value) && ids.includes(value)) return [];
  const message = `${JSON.stringify(value)} is not an id in the path of a GET route`;
  const routes = ids.map((id) => {
    const whole = inPath.includes(id) ? path : `${path.replace(/\/$/, '')}/{${id}}`;
    return `@HttpRoute('GET', '${whole}', { feed: '${id}' })`;
  });
  const hint =
    ids.length === 0
      ? `Declare the id of the model whose events are sent as a parameter: \`${idForm(action, value)}\`.`
      : `Name the id of the model whose events are sent, also in the path: ${oneOf(routes)}.`;
  return [diagnostic('FWGEN028', location, message, hint)];
}

/** The code of an id parameter: of the action's result model, if it has one. */
function idForm({ result }: RoutedAction, name: string): string {
  return `readonly ${name}: Id<${result.kind === 'model' ? result.model.name : 'Wallet'}>;`;
}

function checkBody({ route: { status, responseLocation } }: RoutedAction): readonly Diagnostic[] {
  if (status?.value !== 204 || responseLocation === undefined) return [];
  const message = 'A response with status 204 has no body';
  const hint = 'Remove `response`, or use another status: `{ status: 200, response: NameResponse }`.';
  return [diagnostic('FWGEN026', responseLocation, message, hint)];
}

function idsOf({ params }: RoutedAction): readonly string[] {
  return params.filter(({ type }) => type.kind === 'id').map(({ name }) => name);
}

function oneOf(forms: readonly string[]): string {
  return forms.map((form) => `\`${form}\``).join(' or ');
}

function renamed(template: Located<string> | undefined, from: string, to: string): string {
  return template?.value.replace(`{${from}}`, `{${to}}`) ?? '';
}

function list<T>(item: T | undefined): readonly T[] {
  return item === undefined ? [] : [item];
}

function fieldsIn(template: Located<string> | undefined): readonly Located<string>[] {
  if (template === undefined) return [];
  return pathParameters(template.value).map((value) => ({ value, location: template.location }));
}

function isHeaderField(field: FieldSchema | undefined): field is FieldSchema {
  return field !== undefined && !field.optional && !field.nullable && isScalar(field.type);
}
