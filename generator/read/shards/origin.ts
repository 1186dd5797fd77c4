import type { SourceLocation } from '../../schema/location.js';

/** What determines the shard of a value. Values with the same key are on the same shard. */
export interface Origin {
  readonly key: string;
  /** For messages: `params.walletId`, `ShardIdentifier (1, 0)`. */
  readonly text: string;
  readonly location: SourceLocation;
  /** The shard itself, if the source contains it: `(1, 0)`. */
  readonly constant?: string;
}

/** The result of evaluating an expression without running it. */
export type Value =
  /** A shard, or an id or model on the shard of its origin. */
  | { readonly kind: 'located'; readonly origin: Origin; readonly model?: string }
  /** The params of the action, or a part of them. */
  | { readonly kind: 'params'; readonly path: string }
  | { readonly kind: 'tuple'; readonly items: readonly Value[] }
  /** A builder of a model. Its origin is known once it has an id. */
  | { readonly kind: 'builder'; readonly model: string; readonly origin?: Origin }
  | { readonly kind: 'repository'; readonly model: string }
  | { readonly kind: 'plan' }
  | { readonly kind: 'this' }
  | { readonly kind: 'unknown' };

export const UNKNOWN: Value = { kind: 'unknown' };

/** Returns the origin of a value; undefined if it has none. */
export function originOf(value: Value): Origin | undefined {
  return value.kind === 'located' || value.kind === 'builder' ? value.origin : undefined;
}
