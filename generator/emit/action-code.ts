import { partsOf } from '../schema/fields.js';
import {
  type ActionSchema,
  type ResponseSchema,
  type RouteSchema,
  storedNameOf,
} from '../schema/project-schema.js';
import type { TypeSchema } from '../schema/type-schema.js';
import { discriminatorOf } from '../schema/unions.js';
import type { Emission } from './emission.js';
import { declaredFieldsCode, fieldCode } from './field-code.js';
import { at, Call, type Code, Expression } from './print/code.js';
import type { Imports } from './print/imports.js';
import { memberName } from './print/strings.js';
import type { ResponseTypes } from './response-types.js';
import { upcastersCode } from './upcasters-code.js';

/** The context in which declarations of actions are printed. */
export interface ActionPrinting {
  readonly emission: Emission;
  readonly imports: Imports;
  readonly responses: ResponseTypes;
  readonly outputFolder: string;
}

/**
 * Returns the declaration of an action, `defineAction(WalletGetAction, { ... })`, for a member of a literal at the
 * margin.
 */
export function actionCode(action: ActionSchema, printing: ActionPrinting): Code {
  const { emission, imports, outputFolder } = printing;
  const { className, description, file, location, name, route, version } = action;
  const actionClass = imports.value({ kind: 'file', file, name: className });
  const place = { classText: actionClass, outputFolder, imports };
  const upcasters = upcastersCode(version, { of: 'params', className }, place);
  const response = route?.response && responseCode(route.response, printing);
  const declaration = {
    doc: description,
    version,
    upcasters,
    params: declaredFieldsCode(action.params, 'documented', emission, imports),
    result: resultCode(action, printing),
    ...(route === undefined ? {} : routeCode(route, action, response)),
  };
  const code = new Call(imports.runtimeValue('defineAction'), [new Expression(actionClass), declaration]);
  return at(location, emission.part(code, 2, memberName(name).length + ': ,'.length));
}

function responseCode(response: ResponseSchema, { emission, imports, responses }: ActionPrinting): Code {
  const { name, file } = response;
  const variable = responses.of(emission.types.named(response));
  const local = imports.value({ kind: 'file', file, name });
  return { type: variable, map: new Expression(`(result) => ${local}.from(result)`) };
}

function routeCode(
  route: RouteSchema,
  { name, className }: ActionSchema,
  responseCode: Code | undefined,
): { readonly [key: string]: Code | undefined } {
  const { method, path, location, response, status, locationHeader, etag, ifMatch, feed } = route;
  const options: { readonly [key: string]: Code | undefined } = {
    operation: className === name ? undefined : className,
    status: status?.value === (response === undefined ? 204 : 200) ? undefined : status?.value,
    tag: route.tag,
    summary: route.summary,
    etag: etag?.value,
    ifMatch: ifMatch?.value,
    feed: feed?.value,
    location: locationHeader?.value,
    bodyBytes: route.bodyBytes,
    timeoutMs: route.timeoutMs,
  };
  const hasOptions = Object.values(options).some((value) => value !== undefined);
  return {
    route: at(location, hasOptions ? [method, path, options] : [method, path]),
    example: route.example === undefined ? undefined : at(location, route.example),
    response: responseCode === undefined ? undefined : at(location, responseCode),
  };
}

function resultCode(
  { result, resultOptional: optional, resultNullable: nullable, location }: ActionSchema,
  { emission: { types }, imports }: ActionPrinting,
): Code | undefined {
  if (result.kind === 'void') return undefined;
  if (result.kind !== 'model' && isOpaque(result)) return { kind: 'opaque' };
  // An optional model has no row that the journal could refer to.
  if (result.kind === 'model')
    return optional || nullable ? { kind: 'opaque' } : { kind: 'model', model: storedNameOf(result.model) };
  const field = types.field({ name: '', type: result, optional, nullable, tags: [], location });
  const printing = { t: imports.runtimeValue('t'), use: 'stored', types } as const;
  return new Call(imports.runtimeValue('fieldResult'), [fieldCode(field, printing)]);
}

/** Whether values of the type cannot be restored from JSON. */
function isOpaque(type: TypeSchema): boolean {
  return partsOf(type).some((part) => {
    if (part.kind === 'object') return part.fields.some((field) => isOpaque(field.type));
    if (part.kind === 'union') return discriminatorOf(part.of) === undefined;
    return part.kind === 'model' || part.kind === 'void' || part.kind === 'unsupported';
  });
}
