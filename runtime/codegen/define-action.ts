import type { Action, ActionClass } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import { defined } from '../domain/defined.js';
import type { ObjectType } from '../domain/descriptor.js';
import { namedFields, type UnnamedField } from '../domain/field-types.js';
import type { JsonValue } from '../domain/json.js';
import type { RouteDescriptor } from '../http/route.js';

/** An action as emitted code declares it: its params, result and route. */
interface ActionDeclaration<Result>
  extends Pick<ActionDescriptor, 'version' | 'upcasters' | 'schedule' | 'result'> {
  /** Description of the action. */
  readonly doc?: string;
  /** Default none. */
  readonly params?: Readonly<Record<string, UnnamedField>>;
  /** The action's route. Default: none. */
  readonly route?: readonly [
    method: RouteDescriptor['method'],
    path: `/${string}`,
    options?: RouteDeclaration,
  ];
  /** The route's response. Default: no body. */
  readonly response?: { readonly type: ObjectType; readonly map: (result: Result) => object };
  /** Example request body for the OpenAPI document. */
  readonly example?: JsonValue;
}

/** Options of a route. */
interface RouteDeclaration
  extends Pick<
    RouteDescriptor,
    'bodyBytes' | 'etag' | 'feed' | 'ifMatch' | 'location' | 'summary' | 'tag' | 'timeoutMs'
  > {
  /** Name of the action class. Default: the stable name of the action. */
  readonly operation?: string;
  /** Status of success. Default: 200, or 204 without a body. */
  readonly status?: number;
}

/** A declared action, without its name and its constructor arguments. */
interface DeclaredAction<Created extends Action<never, unknown> = Action<never, unknown>> {
  readonly actionClass: ActionClass<never, unknown>;
  readonly declaration: ActionDeclaration<never>;
  /** Type only. */
  readonly created?: Created;
}

/** Declared actions by their stable names. */
type DeclaredActions = Readonly<Record<string, DeclaredAction>>;

/** Declares an action. A `map` that does not accept the action's result does not compile. */
export function defineAction<Params, Result>(
  actionClass: ActionClass<Params, Result>,
  declaration: ActionDeclaration<Result>,
): DeclaredAction<Action<Params, Result>> {
  return { actionClass, declaration };
}

/** A result that is one value. */
export function fieldResult({
  type,
  optional,
  nullable,
}: UnnamedField): NonNullable<ActionDescriptor['result']> {
  return { kind: 'field', type, ...defined({ optional, nullable }) };
}

/** The routes of declared actions. */
export function routesOf(actions: DeclaredActions): readonly RouteDescriptor[] {
  return Object.entries(actions).flatMap(([name, { actionClass, declaration }]) => {
    const { doc, params = {}, route, response, example } = declaration;
    if (route === undefined) return [];
    const [method, path, declared = {}] = route;
    const { operation = name, status = response === undefined ? 204 : 200, ...options } = declared;
    return {
      ...{ method, path, operation, status, action: actionClass, params: namedFields(params) },
      ...defined({ doc, response, example }),
      ...options,
    };
  });
}

/** The descriptors of declared actions, each with its constructor wiring. An action without wiring does not compile. */
export function wireActions<Actions extends DeclaredActions>(
  actions: Actions,
  wiring: { readonly [Name in keyof Actions]: () => NonNullable<Actions[Name]['created']> },
): readonly ActionDescriptor[] {
  return Object.entries(actions).map(([name, { actionClass, declaration }]) => {
    const { params = {}, result, version, upcasters, schedule } = declaration;
    return {
      ...{ name, actionClass, params: namedFields(params), create: wiring[name as keyof Actions] },
      ...defined({ result, version, upcasters, schedule }),
    };
  });
}
