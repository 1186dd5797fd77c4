import type { JsonPart } from '../domain/kinds/json-schema.js';
import type { AccessStatus } from './documented-access.js';

interface Problem {
  /** Name of the component. */
  readonly name: string;
  readonly description: string;
  /** Headers of each response of this kind. */
  readonly headers?: Readonly<Record<string, JsonPart>>;
}

/** Every documented failure status. */
export type ProblemStatus = AccessStatus | 400 | 404 | 409 | 412 | 413 | 415 | 422 | 503 | 504;

/** All other failures: refusals of HTTP itself, and faults of the server. */
export const FAILURE_NAME = 'Failure';

const RETRY_AFTER: Readonly<Record<string, JsonPart>> = {
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
};

const CHALLENGE: Readonly<Record<string, JsonPart>> = {
  'WWW-Authenticate': {
    description: 'The expected authentication scheme.',
    required: true,
    schema: { type: 'string' },
  },
};

/** Names and meanings of failures, by status. */
export const PROBLEMS: Readonly<Record<ProblemStatus, Problem>> = {
  400: { name: 'BadRequest', description: 'The request is invalid.' },
  401: { name: 'Unauthorized', description: 'The caller is not authenticated.', headers: CHALLENGE },
  403: { name: 'Forbidden', description: 'The caller may not do this. Nothing was done.' },
  404: { name: 'NotFound', description: 'There is no such model, or its shard is not configured.' },
  409: {
    name: 'Conflict',
    description:
      'The current state refuses the request, other updates won every retry, or a request with the same key is still running.',
  },
  412: { name: 'PreconditionFailed', description: 'The version in `If-Match` is not the current one.' },
  413: { name: 'ContentTooLarge', description: 'The body is too large.' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not JSON in UTF-8.' },
  421: { name: 'MisdirectedRequest', description: 'The server does not answer for this host.' },
  422: { name: 'UnprocessableContent', description: 'The idempotency key was used with another request.' },
  429: {
    name: 'TooManyRequests',
    description: 'The caller exceeds its request limit. Nothing was done.',
    headers: RETRY_AFTER,
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'The shard cannot be reached, is read-only or saturated. Nothing was done.',
    headers: RETRY_AFTER,
  },
  504: {
    name: 'GatewayTimeout',
    description: 'The outcome is unknown. Repeat the request with the same idempotency key to get it.',
  },
};

/** RFC 9457, with additional members. */
export const PROBLEM_SCHEMA: JsonPart = {
  description: 'What went wrong (RFC 9457).',
  type: 'object',
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'Explanation of this failure for people.' },
    instance: { type: 'string', format: 'uri-reference' },
    code: { type: 'string', description: 'Stable error code for programs.' },
    errors: {
      type: 'array',
      description: 'One entry per invalid value.',
      items: {
        type: 'object',
        properties: {
          pointer: { type: 'string', format: 'json-pointer' },
          message: { type: 'string' },
          in: { type: 'string', enum: ['path', 'query'], description: 'Absent for a value in the body.' },
        },
        required: ['pointer', 'message'],
      },
    },
  },
  required: ['type', 'title', 'status', 'code'],
};

/** The response for all other failures. */
export const FAILURE_RESPONSE: JsonPart = {
  description: 'The request is not valid HTTP, or the server failed.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/** The response for one status. */
export function problemResponse(status: ProblemStatus): JsonPart {
  const { description, headers } = PROBLEMS[status];
  return {
    description,
    ...(headers === undefined ? {} : { headers }),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}
