import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from '../access/authenticator.js';
import { ruleOf } from '../action/access-rule.js';
import type { ActionClass } from '../action/action.js';
import type { ActionInput } from '../action/action-input.js';
import type { Id } from '../domain/id.js';
import { type Caller, type Principal, principalOf } from '../domain/principal.js';
import { ForbiddenError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import { executionSettings } from './execution-settings.js';
import { type Executes, requireName } from './route-handler.js';

/** How a custom route executes an action. */
export interface RouteExecution {
  /** Who acts. Default: the caller, by the server's authenticator. */
  readonly principal?: Caller;
  /**
   * 1 to 255 visible characters, such as the id that a webhook's sender gives each message. Default: the request's
   * `Idempotency-Key`, unless it is a GET.
   */
  readonly idempotencyKey?: string;
  /** The id whose model's version the request's `If-Match` is compared with. Default: `If-Match` is ignored. */
  readonly ifMatch?: Id<unknown>;
  /** Time for the whole execution, in milliseconds. Default: that of the configuration. */
  readonly timeoutMs?: number;
}

/** What custom routes share with generated ones. Each method throws what the server answers with a problem. */
export interface RouteTools {
  /** The caller. Asks the authenticator once per request. @throws UnauthenticatedError answered with 401 */
  authenticate(request: FastifyRequest): Promise<Principal>;
  /**
   * Executes an action as a generated route does: as the caller, under the request's `Idempotency-Key`, with its
   * `traceparent`. A replayed result sets `Idempotency-Replayed: true`.
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

/** What the tools work with. */
export interface ToolsContext {
  readonly executor: Executes;
  readonly authenticator: Authenticator;
  /** Actions without a rule are refused to callers. */
  readonly denyByDefault?: boolean | undefined;
  readonly log: Logger;
}

/** The tools of one server. Replies are remembered by their requests, for the header of replays. */
export class RouteToolbox implements RouteTools {
  readonly log: Logger;
  readonly #executor: Executes;
  readonly #authenticator: Authenticator;
  readonly #denyByDefault: boolean;
  readonly #replies = new WeakMap<FastifyRequest, FastifyReply>();
  readonly #callers = new WeakMap<FastifyRequest, Promise<Principal>>();

  constructor({ executor, authenticator, denyByDefault = false, log }: ToolsContext) {
    this.#denyByDefault = denyByDefault;
    this.#executor = executor;
    this.#authenticator = authenticator;
    this.log = log;
  }

  /** To be called before the route's own handlers. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    this.#replies.set(request, reply);
  }

  // Properties, so that they can be taken out of the object.
  readonly authenticate = (request: FastifyRequest): Promise<Principal> => {
    const known = this.#callers.get(request);
    if (known !== undefined) return known;
    const caller = this.#ask(request);
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
    // Whom a custom route names itself is its own affair.
    if (this.#denyByDefault && options.principal === undefined && ruleOf(actionClass) === undefined)
      throw new ForbiddenError(`${actionClass.name} has no rule, and access is denied by default`);
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
    return (await this.#executor.execute(principal, action, params as object, settings)) as Result;
  };

  async #ask(request: FastifyRequest): Promise<Principal> {
    const principal = await this.#authenticator(request.raw);
    requireName(principal);
    return principalOf(principal);
  }
}
