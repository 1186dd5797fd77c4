import { partsOf } from '../../schema/fields.js';
import { type ActionSchema, type RouteSchema, storedNameOf } from '../../schema/project-schema.js';
import type { TypeSchema } from '../../schema/type-schema.js';
import { discriminatorOf } from '../../schema/unions.js';
import { declaredFields, type FieldView, fieldCall } from '../field-code.js';
import type { FileScope } from '../file-scope.js';
import { literal, propertyKey } from '../print/literal.js';
import { quote } from '../print/strings.js';
import type { Responses } from '../responses.js';
import type { ConstructionView, FunctionWiring } from '../wiring.js';
import { upcastersText } from './versions-view.js';

/** View of `partials/action.hbs`: an action with its params, result and route. Texts are '' if there is none. */
export interface ActionView extends ConstructionView {
  /** Key of its property: the stable name. */
  readonly name: string;
  /** Description, quoted. */
  readonly doc: string;
  /** Version of its params, if there are older ones, and the call that declares their upcasters. */
  readonly version: string;
  readonly upcasters: string;
  readonly params: readonly FieldView[];
  /** Literal or call that describes the result. */
  readonly result: string;
  /** Literal of the options of its schedule. */
  readonly schedule: string;
  /** Method and path, quoted; '' for an action without a route. */
  readonly method: string;
  readonly path: string;
  /** Literal of the route's options. */
  readonly options: string;
  /** Literal of an example request. */
  readonly example: string;
  /** Constant of the response's type, and local name of its class. */
  readonly responseType: string;
  readonly responseClass: string;
}

/** The context in which actions of one file are described. */
export interface ActionContext {
  readonly scope: FileScope;
  readonly responses: Responses;
  readonly wiring: FunctionWiring;
}

/** Builds the view of an action. */
export function actionView(action: ActionSchema, context: ActionContext): ActionView {
  const { scope, responses, wiring } = context;
  const { className, description, location, route, version } = action;
  const construction = wiring.construction(action);
  const response = route?.response;
  scope.runtimeValue('defineAction');
  const at = (text: string): string => scope.at(location, text);
  const atRoute = (text: string): string => scope.at(route?.location ?? location, text);
  return {
    ...construction,
    class: at(construction.class),
    name: at(propertyKey(action.name)),
    doc: description === undefined ? '' : at(quote(description)),
    version: version === undefined ? '' : String(version),
    upcasters: upcastersText(version, { of: 'params', className }, construction.class, scope),
    params: declaredFields(action.params, { scope, use: 'documented' }),
    result: at(resultText(action, scope)),
    schedule: action.schedule === undefined ? '' : at(literal({ ...action.schedule })),
    ...routeView(action, route, atRoute),
    responseType: response === undefined ? '' : responses.of(scope.emission.types.named(response)),
    responseClass:
      response === undefined
        ? ''
        : atRoute(scope.value({ kind: 'file', file: response.file, name: response.name })),
  };
}

function routeView(
  { name, className }: ActionSchema,
  route: RouteSchema | undefined,
  at: (text: string) => string,
): Pick<ActionView, 'method' | 'path' | 'options' | 'example'> {
  if (route === undefined) return { method: '', path: '', options: '', example: '' };
  const status = route.status?.value;
  const options = literal({
    operation: className === name ? undefined : className,
    status: status === (route.response === undefined ? 204 : 200) ? undefined : status,
    tag: route.tag,
    summary: route.summary,
    etag: route.etag?.value,
    ifMatch: route.ifMatch?.value,
    feed: route.feed?.value,
    location: route.locationHeader?.value,
    bodyBytes: route.bodyBytes,
    timeoutMs: route.timeoutMs,
  });
  return {
    method: at(quote(route.method)),
    path: quote(route.path),
    options: options === '{}' ? '' : options,
    example: route.example === undefined ? '' : at(literal(route.example)),
  };
}

function resultText(
  { result, resultOptional: optional, resultNullable: nullable, location }: ActionSchema,
  scope: FileScope,
): string {
  if (result.kind === 'void') return '';
  if (result.kind !== 'model' && isOpaque(result)) return OPAQUE;
  // An optional model has no row that the journal could refer to.
  if (result.kind === 'model')
    return optional || nullable ? OPAQUE : literal({ kind: 'model', model: storedNameOf(result.model) });
  const field = scope.emission.types.field({
    name: '',
    type: result,
    optional,
    nullable,
    tags: [],
    location,
  });
  return `${scope.runtimeValue('fieldResult')}(t.${fieldCall(field, { scope, use: 'stored' })})`;
}

const OPAQUE = "{ kind: 'opaque' }";

/** Whether values of the type cannot be restored from JSON. */
function isOpaque(type: TypeSchema): boolean {
  return partsOf(type).some((part) => {
    if (part.kind === 'object') return part.fields.some((field) => isOpaque(field.type));
    if (part.kind === 'union') return discriminatorOf(part.of) === undefined;
    return part.kind === 'model' || part.kind === 'void' || part.kind === 'unsupported';
  });
}
