import type { FastifyReply, FastifyRequest } from 'fastify';
import { ruleOf } from '../action/access-rule.js';
import type { ActionClass } from '../action/action.js';
import type { ActionDescriptor } from '../action/action-descriptor.js';
import type { ActionInput } from '../action/action-input.js';
import type { ActionRegistry } from '../action/action-registry.js';
import { memoize } from '../collections/memoize.js';
import type { Id } from '../domain/id.js';
import { compileObjectWriter } from '../domain/json-codec.js';
import { type Caller, type Principal, principalOf } from '../domain/principal.js';
import { ForbiddenError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import { executionSettings } from './execution-settings.js';
import { paramsReader } from './input/read-params.js';
import { type RouteServices, requireName } from './route-handler.js';

/** Settings of an action in a custom route. */
interface RouteExecution {
  /** The acting principal. Default: the caller, by the server's authenticator. */
  readonly principal?: Caller;
  /**
   * 1 to 255 visible characters, such as the id that a webhook's sender gives each message. Default: the request's
   * `Idempotency-Key`, unless it is a GET or a HEAD.
   */
  readonly idempotencyKey?: string;
  /** The id of the model whose version the request's `If-Match` refers to. Default: `If-Match` is ignored. */
  readonly ifMatch?: Id<unknown>;
  /** Time limit of the execution, in milliseconds. Default: that of the configuration. */
  readonly timeoutMs?: number;
}

/** Functions of generated routes for custom ones. The server answers their errors with problems. */
export interface RouteTools {
  /** The caller. Calls the authenticator once per request. @throws UnauthenticatedError answered with 401 */
  authenticate(request: FastifyRequest): Promise<Principal>;
  /**
   * Executes an action as a generated route does: as the caller, under the request's `Idempotency-Key`, with its
   * `traceparent`, if its params obey the tags in their comments. A replayed result sets `Idempotency-Replayed: true`.
   */
  execute<Params, Result>(
    request: FastifyRequest,
    actionClass: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
    options?: RouteExecution,
  ): Promise<Result>;
  /** The server's log. */
  readonly log: Logger;
}

/** Dependencies of the tools: options of the server. */
interface ToolsContext extends Pick<RouteServices, 'executor' | 'authenticator' | 'denyByDefault'> {
  readonly log: Logger;
  /** The actions, whose params are checked. Default: no param is. */
  readonly actions?: Pick<ActionRegistry, 'find'> | undefined;
  readonly nestingDepth: number;
}

/** The tools of one server. Remembers the reply of each request, for the header of replays. */
export class RouteToolbox implements RouteTools {
  readonly log: Logger;
  readonly #context: ToolsContext;
  readonly #replies = new WeakMap<FastifyRequest, FastifyReply>();
  readonly #callers = new WeakMap<FastifyRequest, Promise<Principal>>();
  /** Checks params as the body of a request that contains them. */
  readonly #check = memoize((action: ActionDescriptor<never, unknown>) => {
    const write = compileObjectWriter(action.params);
    return (given: object) => paramsReader(action)(write(given), this.#context.nestingDepth);
  });

  constructor(context: ToolsContext) {
    this.#context = context;
    this.log = context.log;
  }

  /** Must be called before the route's own handlers. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    this.#replies.set(request, reply);
  }

  // Properties, so that they can be destructured.
  readonly authenticate = (request: FastifyRequest): Promise<Principal> => {
    const caller = this.#callers.get(request) ?? this.#ask(request);
    this.#callers.set(request, caller);
    return caller;
  };

  readonly execute = async <Params, Result>(
    request: FastifyRequest,
    actionClass: ActionClass<Params, Result>,
    params: ActionInput<NoInfer<Params>>,
    options: RouteExecution = {},
  ): Promise<Result> => {
    const principal = options.principal ?? (await this.authenticate(request));
    // A principal that a custom route chooses is not a caller.
    if (
      this.#context.denyByDefault === true &&
      options.principal === undefined &&
      ruleOf(actionClass) === undefined
    )
      throw new ForbiddenError('This operation has no rule, and access is denied by default');
    const { idempotencyKey: key, ifMatch, timeoutMs } = options;
    const method = key === undefined ? request.method : 'POST';
    const headers = key === undefined ? request.headers : { ...request.headers, 'idempotency-key': key };
    const settings = executionSettings(
      { method, timeoutMs, ...(ifMatch === undefined ? {} : { ifMatch: 'id' }) },
      headers,
      { id: ifMatch },
      () => void this.#replies.get(request)?.header('idempotency-replayed', 'true'),
    );
    // The executor finds action and result by the class; `Executes` leaves their types to the generated routes.
    const action = actionClass as ActionClass<never, unknown>;
    const { actions, executor } = this.#context;
    if (actions !== undefined) this.#check(actions.find(action))(params as object);
    return (await executor.execute(principal, action, params as object, settings)) as Result;
  };

  async #ask(request: FastifyRequest): Promise<Principal> {
    const principal = await this.#context.authenticator(request.raw);
    requireName(principal);
    return principalOf(principal);
  }
}
