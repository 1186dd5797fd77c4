import type { SourceLocation } from '../../schema/location.js';

/** What decides the shard of a value. Two values with one key are on one shard. */
export interface Origin {
  readonly key: string;
  /** As a person would say it: `params.walletId`, `ShardIdentifier (1, 0)`. */
  readonly text: string;
  readonly location: SourceLocation;
  /** The shard itself, where it is written out: `(1, 0)`. */
  readonly constant?: string;
}

/** What is known of an expression without running it. */
export type Value =
  /** A shard, an id or a model: something that lies on the shard of its origin. */
  | { readonly kind: 'located'; readonly origin: Origin; readonly model?: string }
  /** The params of the action, or something inside them. */
  | { readonly kind: 'params'; readonly path: string }
  | { readonly kind: 'tuple'; readonly items: readonly Value[] }
  /** A builder of a model; its origin is known once it has an id. */
  | { readonly kind: 'builder'; readonly model: string; readonly origin?: Origin }
  | { readonly kind: 'repository'; readonly model: string }
  | { readonly kind: 'plan' }
  | { readonly kind: 'this' }
  | { readonly kind: 'unknown' };

export const UNKNOWN: Value = { kind: 'unknown' };

/** The origin of a value, where it has one. */
export function originOf(value: Value): Origin | undefined {
  return value.kind === 'located' || value.kind === 'builder' ? value.origin : undefined;
}
