/**
 * What types can name of this package, as one declaration file. The checker reads it instead of the package's own
 * declarations, which take seconds. Whether a type is assignable must not differ from these.
 */
export const FRAMEWORK_SURFACE = `
declare const uuidBrand: unique symbol;
declare const currencyBrand: unique symbol;
declare const ofDefault: unique symbol;
declare class Decimal { private readonly decimal: true; toString(): string; }
export default Decimal;
export { Decimal };
export type Uuid = string & { readonly [uuidBrand]?: true };
export type Currency = string & { readonly [currencyBrand]: true };
export type JsonObject = { readonly [key: string]: JsonValue };
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
interface Marked<T> { readonly [ofDefault]: T; }
export type Default<T> = T & Marked<T>;
export declare class Id<M> {
  protected readonly modelType?: M;
  readonly modelName: string;
  getValue(): Uuid;
  equals(other: Id<unknown> | undefined | null): boolean;
  toString(): string;
  toJSON(): string;
}
export declare class ShardedId<M> extends Id<M> { readonly shard: unknown; }
export declare abstract class Entity<Self, IdType, State = string> {
  protected readonly typeArguments: [Self, IdType, State];
  readonly id: IdType;
  readonly state: State;
  readonly version: number;
}
export declare abstract class Model<Self, IdType, State = string> extends Entity<Self, IdType, State> {
  readonly createdDate: Date;
  readonly updatedDate: Date;
}
export declare abstract class ModelEvent<M> { protected readonly modelType?: M; }
export declare abstract class Action<Params, Result> { protected readonly typeArguments: [Params, Result]; }
export declare abstract class Saga<M> { protected readonly model?: M; }
export declare class Repository<M, Tables = unknown> { protected readonly model: M; protected readonly tables: Tables; }
export interface EventEnvelope<Event = unknown> { readonly event: Event; }
`;

const DECLARED = new Set(
  [...FRAMEWORK_SURFACE.matchAll(/ (?:class|type|interface) (\w+)/g)].map(([, name]) => name),
);

/** Whether the checker knows a type of this package. The others are no data. */
export function isOnSurface(name: string): boolean {
  return DECLARED.has(name);
}

/** Whether a specifier names an entry of this package. */
export function isThisPackage(specifier: string): boolean {
  return /^fw-actions(\/|$)/.test(specifier);
}

/** Whether a specifier names this package, or the package whose class it exports as `Decimal`. */
export function isFramework(specifier: string): boolean {
  return specifier === 'decimal.js' || isThisPackage(specifier);
}
