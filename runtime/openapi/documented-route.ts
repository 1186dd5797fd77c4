import type { FieldDescriptor, ObjectType } from '../domain/descriptor.js';
import type { JsonValue } from '../domain/json.js';

/** The documented properties of one route. */
export interface DocumentedRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With parameters in braces: `/wallets/{walletId}/deposit`. */
  readonly path: string;
  /** Name of the action class: `operationId`. */
  readonly operation: string;
  /** Status of success. */
  readonly status: number;
  /** All params of the action, from any part of the request: see `placesOf`. */
  readonly params: readonly FieldDescriptor[];
  /** Absent for a route without a response body. */
  readonly response?: { readonly type: ObjectType };
  /** `Location` header with response fields in braces. */
  readonly location?: string;
  /** Response field that becomes the `ETag`. */
  readonly etag?: string;
  /** Id parameter to which `If-Match` refers. */
  readonly ifMatch?: string;
  /** Id parameter of the model whose events the route streams. */
  readonly feed?: string;
  /** Description of the action. Its first paragraph is the default summary. */
  readonly doc?: string;
  readonly summary?: string;
  /** Who may call: every caller, or those whom a rule admits. Absent: its action has no rule. */
  readonly rule?: 'everyone' | 'some' | undefined;
  /** Tag of the operation. */
  readonly tag?: string;
  /** Example request body. */
  readonly example?: JsonValue;
}

/** Params by the part of the request that contains them. */
export interface ParamPlaces {
  readonly path: readonly FieldDescriptor[];
  readonly query: readonly FieldDescriptor[];
  readonly body: readonly FieldDescriptor[];
}

/** Params that are not part of the path come from the query for GET and DELETE, and from the body for other methods. */
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
