import type { AccessStatus } from './documented-access.js';
import type { JsonPart } from './json-schema.js';

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
    description: 'Seconds until trying again may help.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
};

const CHALLENGE: Readonly<Record<string, JsonPart>> = {
  'WWW-Authenticate': {
    description: 'The scheme that is expected.',
    required: true,
    schema: { type: 'string' },
  },
};

/** Names and meanings of failures, by status. */
export const PROBLEMS: Readonly<Record<ProblemStatus, Problem>> = {
  400: { name: 'BadRequest', description: 'The content of the request is not acceptable.' },
  401: { name: 'Unauthorized', description: 'The caller does not prove who it is.', headers: CHALLENGE },
  403: { name: 'Forbidden', description: 'The caller may not do this. Nothing was done.' },
  404: { name: 'NotFound', description: 'There is no such model, or its shard is not configured.' },
  409: {
    name: 'Conflict',
    description:
      'The present state refuses it, other updates won every retry, or the same key is still running.',
  },
  412: { name: 'PreconditionFailed', description: 'The version named in `If-Match` is not the present one.' },
  413: { name: 'ContentTooLarge', description: 'The body is too large.' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not JSON in UTF-8.' },
  421: { name: 'MisdirectedRequest', description: 'The server does not answer for this host.' },
  422: { name: 'UnprocessableContent', description: 'The idempotency key was used with another request.' },
  429: {
    name: 'TooManyRequests',
    description: 'The caller makes more requests than it may. Nothing was done.',
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
    detail: { type: 'string', description: 'What happened to this request, for people.' },
    instance: { type: 'string', format: 'uri-reference' },
    code: { type: 'string', description: 'What happened, for programs.' },
    errors: {
      type: 'array',
      description: 'Each value at fault.',
      items: {
        type: 'object',
        properties: {
          pointer: { type: 'string', format: 'json-pointer' },
          message: { type: 'string' },
          in: { type: 'string', enum: ['path', 'query'], description: 'Absent for the body.' },
        },
        required: ['pointer', 'message'],
      },
    },
  },
  required: ['type', 'title', 'status', 'code'],
};

/** The response for all other failures. */
export const FAILURE_RESPONSE: JsonPart = {
  description: 'HTTP itself refuses the request, or the server is at fault.',
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
