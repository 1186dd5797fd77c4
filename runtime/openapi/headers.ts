import type { JsonPart } from '../domain/kinds/json-schema.js';

/** A header of requests, by the name of its component. */
export type RequestHeader = 'IdempotencyKey' | 'IfMatch' | 'IfNoneMatch' | 'LastEventID';

/** One entity tag, or several separated by commas. */
const TAG = '(W/)?"[!#-~]*"';
const TAGS = `^(\\*|${TAG}( *, *${TAG})*)$`;

/** Headers that requests may carry. */
export const REQUEST_HEADERS: Readonly<Record<RequestHeader, JsonPart>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes repeats safe: a repeated request gets the first response and has no second effect.',
    required: false,
    schema: { type: 'string', pattern: '^[!-~]{1,255}$', examples: ['8d2f0b7c-deposit-1'] },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The request fails unless the model has this version, such as `"3"`.',
    required: false,
    schema: { type: 'string', pattern: TAGS, examples: ['"3"'] },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'The response is 304 if it would have this `ETag`: the model still has this version, or the list this content.',
    required: false,
    schema: { type: 'string', examples: ['"3"'] },
  },
  LastEventID: {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'A stream begins after the version with this id. Without it, it begins with the first event of the model.',
    required: false,
    schema: { type: 'string', examples: ['3'] },
  },
};

/** `ETag` of a response without a version. */
export const CONTENT_TAG: JsonPart = {
  description: 'Identifies the content of the response.',
  required: true,
  schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]{20}"$', examples: ['"Zm9vYmFyYmF6cXV4MTIz"'] },
};

/** Headers of answers, by name. */
export const RESPONSE_HEADERS: Readonly<
  Record<'ETag' | 'Location' | 'Idempotency-Replayed' | 'Cache-Control', JsonPart>
> = {
  ETag: {
    description: 'Version of the model, in quotes.',
    required: true,
    schema: { type: 'string', pattern: '^"[1-9][0-9]*"$', examples: ['"3"'] },
  },
  Location: {
    description: 'URL of the new model.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
  },
  'Idempotency-Replayed': {
    description: 'Present if this is the response to an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Cache-Control': {
    description: 'Only the caller may cache responses, and must revalidate them before each use.',
    required: true,
    schema: { type: 'string', enum: ['private, no-cache'] },
  },
};
