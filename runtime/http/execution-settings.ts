import type { IncomingHttpHeaders } from 'node:http';
import {
  ExecutionConfiguration,
  type ExecutionConfigurationBuilder,
} from '../action/execution-configuration.js';
import { Id } from '../domain/id.js';
import { isTraceParent } from '../domain/trace-parent.js';
import { isInSpan } from '../tracing.js';
import { readIfMatch } from './entity-tags.js';
import type { RequestParams } from './input/request-params.js';
import { HttpProblem } from './problem.js';

/** 1 to 255 visible ASCII characters. Node joins two headers with a comma and a space, so they are refused. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** Reads do not depend on staged states, so their answers are never older than another process's. */
const READ = ExecutionConfiguration.Builder.executionConfiguration().chaining(false).build();

/** The settings of a route's executions. */
export interface ExecutionRules {
  readonly method: string;
  /** Name of the id param to which `If-Match` refers. */
  readonly ifMatch?: string;
  /** Time limit of the execution, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The execution settings in a request's headers. `undefined` for most requests, for which the executor's defaults
 * apply. Only this function reads headers that affect an execution.
 *
 * @param onReplay called before the execution returns the result of an earlier one under the same key
 * @throws HttpProblem (400) for an `If-Match` that is not a list of tags, or an invalid `Idempotency-Key`
 */
export function executionSettings(
  route: ExecutionRules,
  headers: IncomingHttpHeaders,
  params: RequestParams,
  onReplay: () => void,
): ExecutionConfiguration | undefined {
  const ifMatch = route.ifMatch === undefined ? undefined : headers['if-match'];
  // The span of the request, if there is one, has continued the caller's trace.
  const traceParent = isInSpan() ? undefined : headers['traceparent'];
  const isRead = route.method === 'GET' || route.method === 'HEAD';
  const key = isRead ? undefined : headers['idempotency-key'];
  const { timeoutMs } = route;
  if (ifMatch === undefined && traceParent === undefined && key === undefined && timeoutMs === undefined)
    return isRead ? READ : undefined;
  const builder = ExecutionConfiguration.Builder.executionConfiguration().chaining(!isRead);
  if (timeoutMs !== undefined) builder.timeoutMs(timeoutMs);
  if (ifMatch !== undefined) demandVersion(builder, ifMatch, params[route.ifMatch ?? '']);
  // An invalid trace header is no reason to refuse a request.
  if (typeof traceParent === 'string' && isTraceParent(traceParent)) builder.traceContext(traceParent);
  if (key !== undefined) runOnce(builder, key, onReplay);
  return builder.build();
}

function runOnce(builder: ExecutionConfigurationBuilder, key: string | string[], onReplay: () => void): void {
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    throw new HttpProblem(
      'HTTP_MALFORMED_REQUEST',
      'Idempotency-Key must be one header of 1 to 255 visible ASCII characters',
    );
  }
  builder.idempotencyKey(key).onReport(({ replayed }) => {
    if (replayed) onReplay();
  });
}

function demandVersion(builder: ExecutionConfigurationBuilder, header: string, id: unknown): void {
  const versions = readIfMatch(header);
  if (versions !== undefined && id instanceof Id) builder.ifVersion(id, ...versions);
}
