import type { Code } from '../print/code.js';

/** A header of requests, by the name of its component. */
export type RequestHeader = 'IdempotencyKey' | 'IfMatch';

/** Headers that requests may carry. */
export const REQUEST_HEADERS: Readonly<Record<RequestHeader, Code>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes a repeat safe: it gets the first answer and has no second effect.',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Refuse unless the model has this version, such as `"3"`.',
    required: false,
    schema: { type: 'string' },
  },
};

/** Headers of answers, by name. */
export const RESPONSE_HEADERS: { readonly ETag: Code; readonly Location: Code } = {
  ETag: { description: 'Version of the model, in quotes.', schema: { type: 'string' } },
  Location: { description: 'Where the new model is.', schema: { type: 'string' } },
};
