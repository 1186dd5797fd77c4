import type { ActionClass } from '../action/action.js';
import type { HttpMethod } from '../action/markers.js';
import type { FieldDescriptor } from '../domain/descriptor.js';
import type { JsonValue } from '../domain/json.js';

/**
 * A JSON Schema (2020-12) as plain data. Beside the standard keywords it may carry `fw`: the `FieldType` of the
 * value, which the server's own keyword checks and converts (a decimal's text to a `Decimal`, an id's to a
 * `ShardedId`), and `fwLabel`: the name that messages use for the field.
 */
export type JsonSchema = { readonly [keyword: string]: JsonValue };

/** One route: an action served over HTTP. Emitted by the generator. */
export interface RouteDescriptor {
  readonly method: HttpMethod;
  /** With parameters in braces: `/wallets/{walletId}/deposit`. */
  readonly path: string;
  readonly action: ActionClass<never, unknown>;
  /** Name of the action class: `operationId` in the API document. */
  readonly operation: string;
  /** Status of success. */
  readonly status: number;
  /** Object schemas of the three sources of params. A route without a body schema takes no body. */
  readonly pathSchema: JsonSchema;
  readonly querySchema: JsonSchema;
  readonly bodySchema?: JsonSchema;
  /** What makes the response body, and its fields; absent for a route that answers without a body. */
  readonly response?: {
    readonly map: (result: never) => object;
    readonly fields: readonly FieldDescriptor[];
  };
  /** `Location` header with response fields in braces. */
  readonly location?: string;
  /** Response field that becomes the `ETag`. */
  readonly etag?: string;
  /** Id parameter that `If-Match` speaks about. */
  readonly ifMatch?: string;
  /** Bytes of a request body; more is answered with 413. Default: the limit of the server. */
  readonly bodyBytes?: number;
  /** Time for the whole execution, in milliseconds. Default: that of the configuration. */
  readonly timeoutMs?: number;
}

/** A route whose response mapper must take what its action returns. */
export interface TypedRoute<Params, Result> extends Omit<RouteDescriptor, 'action' | 'response'> {
  readonly action: ActionClass<Params, Result>;
  readonly response?: {
    readonly map: (result: Result) => object;
    readonly fields: readonly FieldDescriptor[];
  };
}

/** Gives the route as it is: a mapper that does not fit its action is a compile error. */
export function defineRoute<Params, Result>(route: TypedRoute<Params, Result>): RouteDescriptor {
  return route;
}
