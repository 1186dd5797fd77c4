/** Type only: holds the type of the value. */
declare const ofDefault: unique symbol;

interface Marked<T> {
  readonly [ofDefault]: T;
}

/**
 * A param that has a value in `perform` and that callers may leave out: the value of the field's `@default` takes its
 * place. Written as `readonly limit: Default<number>`.
 */
export type Default<T> = T & Marked<T>;

type DefaultKeys<Params> = {
  [Key in keyof Params]-?: [Extract<Params[Key], Marked<unknown>>] extends [never] ? never : Key;
}[keyof Params];

type Given<Value> = Value extends Marked<infer T> ? T : Value;

/** The params of an action as callers give them: each `Default` may be absent. */
export type ActionInput<Params> = [DefaultKeys<Params>] extends [never]
  ? Params
  : Omit<Params, DefaultKeys<Params>> & {
      readonly [Key in DefaultKeys<Params>]?: Given<Params[Key]>;
    };
