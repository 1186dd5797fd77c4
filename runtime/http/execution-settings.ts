import type { IncomingHttpHeaders } from 'node:http';
import {
  ExecutionConfiguration,
  type ExecutionConfigurationBuilder,
} from '../action/execution-configuration.js';
import { Id } from '../domain/id.js';
import { readIfMatch } from './entity-tags.js';
import type { RequestParams } from './input/request-params.js';
import type { RouteDescriptor } from './route.js';

/** W3C Trace Context, version 00 and later. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/**
 * What a request's headers say about the execution of its action. `undefined` for most requests: the executor has its
 * defaults. Every header that steers an execution is read here and nowhere else.
 *
 * @throws HttpProblem (400) for an `If-Match` that is no list of tags
 */
export function executionSettings(
  route: RouteDescriptor,
  headers: IncomingHttpHeaders,
  params: RequestParams,
): ExecutionConfiguration | undefined {
  const ifMatch = route.ifMatch === undefined ? undefined : headers['if-match'];
  const traceParent = headers['traceparent'];
  if (ifMatch === undefined && traceParent === undefined) return undefined;
  const builder = ExecutionConfiguration.Builder.executionConfiguration();
  if (ifMatch !== undefined) demandVersion(builder, ifMatch, params[route.ifMatch ?? '']);
  // A caller's broken trace is no reason to refuse its money.
  if (typeof traceParent === 'string' && TRACE_PARENT.test(traceParent)) builder.traceContext(traceParent);
  return builder.build();
}

function demandVersion(builder: ExecutionConfigurationBuilder, header: string, id: unknown): void {
  const versions = readIfMatch(header);
  if (versions !== undefined && id instanceof Id) builder.ifVersion(id, ...versions);
}
