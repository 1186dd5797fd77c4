import type { ActionClass } from '../action/action.js';
import type { ObjectType } from '../domain/descriptor.js';
import type { DocumentedRoute } from '../openapi/documented-route.js';

/** One route: an action served over HTTP. Emitted by the generator. */
export interface RouteDescriptor extends DocumentedRoute {
  readonly action: ActionClass<never, unknown>;
  /** What makes the response body, and its type; absent for a route that answers without a body. */
  readonly response?: { readonly type: ObjectType; readonly map: (result: never) => object };
  /** Id parameter whose model's events are streamed to clients that ask for `text/event-stream`. Default: none. */
  readonly feed?: string;
  /** Bytes of a request body; more is answered with 413. Default: the limit of the server. */
  readonly bodyBytes?: number;
  /** Time for the whole execution, in milliseconds. Default: that of the configuration. */
  readonly timeoutMs?: number;
}
