/** The only entry that emitted clients import. It imports nothing but types, so that it runs in browsers. */
export type { ErrorCode } from '../errors.js';
export {
  type CallOptions,
  type Client,
  call,
  type Decimal,
  type DecimalInput,
  type Id,
  type IfChanged,
  type IfMatch,
  itemsOf,
  type Retry,
  type Route,
  type WriteOptions,
} from './call.js';
export { CallError, failedWith, type Json, type Problem } from './call-error.js';
export { type FollowOptions, follow, type StreamedEvent } from './follow.js';
export type { FetchInit, FetchResponse } from './platform.js';
export { date, integer, list, type Reader, read, record, tuple, union, variant } from './readers.js';
