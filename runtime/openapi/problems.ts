import type { JsonPart } from './json-schema.js';

interface Problem {
  /** Name of the component. */
  readonly name: string;
  readonly description: string;
  readonly retryAfter?: true;
}

/** Every status of failure that the document speaks of. */
export type ProblemStatus = 400 | 404 | 409 | 412 | 413 | 415 | 422 | 503 | 504;

/** Whatever else can go wrong: what HTTP itself refuses, a caller who is not known, and faults of the server. */
export const FAILURE_NAME = 'Failure';

/** Names and meanings of failures, by status. */
export const PROBLEMS: Readonly<Record<ProblemStatus, Problem>> = {
  400: { name: 'BadRequest', description: 'The content of the request is not acceptable.' },
  404: { name: 'NotFound', description: 'There is no such model, or its shard is not configured.' },
  409: {
    name: 'Conflict',
    description:
      'The present state refuses it, other updates won every retry, or the same key is still running.',
  },
  412: { name: 'PreconditionFailed', description: 'The version named in `If-Match` is not the present one.' },
  413: { name: 'ContentTooLarge', description: 'The body is too large.' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not JSON in UTF-8.' },
  422: { name: 'UnprocessableContent', description: 'The idempotency key was used with another request.' },
  503: {
    name: 'ServiceUnavailable',
    description: 'The shard cannot be reached, is read-only or saturated. Nothing was done.',
    retryAfter: true,
  },
  504: {
    name: 'GatewayTimeout',
    description:
      'The outcome could not be found out in time; the same idempotency key tells the truth later.',
  },
};

/** RFC 9457, with our own members. */
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

/** The answer for all other failures. */
export const FAILURE_RESPONSE: JsonPart = {
  description: 'HTTP itself refuses the request, the caller is not known, or the server is at fault.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

/** The answer for one status. */
export function problemResponse(status: ProblemStatus): JsonPart {
  const { description, retryAfter } = PROBLEMS[status];
  return {
    description,
    ...(retryAfter === true
      ? {
          headers: {
            'Retry-After': {
              description: 'Seconds until trying again may help.',
              required: true,
              schema: { type: 'integer', minimum: 1 },
            },
          },
        }
      : {}),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}
