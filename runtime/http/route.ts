import type { ActionClass } from '../action/action.js';
import type { ObjectType } from '../domain/descriptor.js';
import type { DocumentedRoute } from '../openapi/documented-route.js';

/** One route: an action served over HTTP. Emitted by the generator. */
export interface RouteDescriptor extends DocumentedRoute {
  readonly action: ActionClass<never, unknown>;
  /** The type of the response body, and the function that creates it; absent for a route without a body. */
  readonly response?: { readonly type: ObjectType; readonly map: (result: never) => object };
  /** Id parameter of the model whose events are streamed to clients that request `text/event-stream`. Default: none. */
  readonly feed?: string;
  /** Maximum size of a request body in bytes; a larger one is answered with 413. Default: the server's limit. */
  readonly bodyBytes?: number;
  /** Time limit of the execution, in milliseconds. Default: that of the configuration. */
  readonly timeoutMs?: number;
}
