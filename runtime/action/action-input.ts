/** Type only: marks the type of the value. */
declare const ofDefault: unique symbol;

interface Marked<T> {
  readonly [ofDefault]: T;
}

/**
 * A param that always has a value in `perform` and that callers may leave out: the field's `@default` replaces it.
 * Written as `readonly limit: Default<number>`.
 */
export type Default<T> = T & Marked<T>;

type DefaultKeys<Params> = {
  [Key in keyof Params]-?: [Extract<Params[Key], Marked<unknown>>] extends [never] ? never : Key;
}[keyof Params];

type Given<Value> = Value extends Marked<infer T> ? T : Value;

/** The params of an action as callers pass them: each `Default` may be absent. */
export type ActionInput<Params> = [DefaultKeys<Params>] extends [never]
  ? Params
  : Omit<Params, DefaultKeys<Params>> & {
      readonly [Key in DefaultKeys<Params>]?: Given<Params[Key]>;
    };
