import type { FieldDescriptor, ObjectType } from '../domain/descriptor.js';
import type { JsonValue } from '../domain/json.js';

/** What the OpenAPI document says about one route. */
export interface DocumentedRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces: `/wallets/{walletId}/deposit`. */
  readonly path: string;
  /** Name of the action class: `operationId`. */
  readonly operation: string;
  /** Status of success. */
  readonly status: number;
  /** All params of the action, whatever part of the request they come from: see `placesOf`. */
  readonly params: readonly FieldDescriptor[];
  /** Absent for a route that answers without a body. */
  readonly response?: { readonly type: ObjectType };
  /** `Location` header with response fields in braces. */
  readonly location?: string;
  /** Response field that becomes the `ETag`. */
  readonly etag?: string;
  /** Id parameter that `If-Match` speaks about. */
  readonly ifMatch?: string;
  /** What the action does. Its first paragraph is the summary unless there is one. */
  readonly doc?: string;
  readonly summary?: string;
  /** Who may call: every caller, or those whom a rule lets in. Absent: its action has no rule. */
  readonly rule?: 'everyone' | 'some';
  /** Group of the operation. */
  readonly tag?: string;
  /** A request body. */
  readonly example?: JsonValue;
}

/** Params by the part of a request that they come from. */
export interface ParamPlaces {
  readonly path: readonly FieldDescriptor[];
  readonly query: readonly FieldDescriptor[];
  readonly body: readonly FieldDescriptor[];
}

/** Params that the path does not name come from the query of GET and DELETE, and from the body of other methods. */
export function placesOf({ method, path, params }: DocumentedRoute): ParamPlaces {
  const names = [...path.matchAll(/\{([^{}/]*)\}/g)].map((match) => match[1]);
  const rest = params.filter(({ name }) => !names.includes(name));
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return {
    path: names.flatMap((name) => params.filter((field) => field.name === name)),
    query: hasBody ? [] : rest,
    body: hasBody ? rest : [],
  };
}
