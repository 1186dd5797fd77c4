import type { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import type { ReadType } from './type-results.js';

/** The use of a type: a `response` may contain mapper classes, `data` is plain, a `result` is only returned. */
export type TypeUse = 'data' | 'result' | 'response';

/** A type node with the types of the type parameters in its scope. */
export interface ScopedNode {
  readonly node: ts.TypeNode;
  readonly scope: Scope;
}

/** The type of a type parameter: a type argument or a computed type. */
export type Bound =
  | { readonly kind: 'written'; readonly node: ts.TypeNode; readonly reading: Reading; known?: ReadType }
  | { readonly kind: 'computed'; readonly type: ReadType };

/** Type parameters by name. */
export type Scope = ReadonlyMap<string, Bound>;

export const NO_SCOPE: Scope = new Map();

/**
 * The part of a type that is needed: a value, or only fields (for `keyof`, `Pick` and the like, which accept a class).
 * A set contains the names of the needed fields.
 */
export type Shape = 'value' | 'fields' | ReadonlySet<string>;

/** The state of reading one type. */
export interface Reading {
  readonly context: ReadContext;
  readonly use: TypeUse;
  /** Enclosing declarations, with the name that `again` has for each. */
  readonly open: ReadonlyMap<string, string>;
  readonly scope: Scope;
  /** Nesting depth of named types. */
  readonly depth: number;
  readonly shape: Shape;
  /** Declarations that were read below the enclosing one. */
  readonly opened: Set<string>;
  /** Number of types that may still be read. A few lines can expand to millions of types. */
  readonly budget: { left: number };
  /** Reads a type node. */
  readonly read: (reading: Reading, node: ts.TypeNode) => ReadType;
}

/** Maximum number of types in one field. */
export const TYPE_BUDGET = 20_000;

/** Maximum nesting of named types. A deeper type usually contains itself with new arguments each time. */
export const DEEPEST = 40;

/** Whether the type of a field is needed. */
export function isNeeded({ shape }: Reading, name: string | undefined): boolean {
  return typeof shape === 'string' || name === undefined || shape.has(name);
}

/** Binds type arguments to the type parameters of a declaration. */
export function bindArguments(
  reading: Reading,
  parameters: readonly ts.TypeParameterDeclaration[] | undefined,
  given: readonly ts.TypeNode[],
): Scope {
  const bound = new Map<string, Bound>();
  for (const [index, { name, default: byDefault }] of (parameters ?? []).entries()) {
    const argument = given[index];
    if (argument !== undefined) bound.set(name.text, { kind: 'written', node: argument, reading });
    else if (byDefault !== undefined) {
      const inner = { ...reading, scope: new Map(bound) };
      bound.set(name.text, { kind: 'written', node: byDefault, reading: inner });
    }
  }
  return bound;
}

/** Returns the type that a type parameter is bound to. */
export function readBound(reading: Reading, bound: Bound): ReadType {
  if (bound.kind === 'computed') return bound.type;
  const inner = { ...bound.reading, shape: reading.shape, use: reading.use };
  if (reading.shape !== 'value') return reading.read(inner, bound.node);
  bound.known ??= reading.read(inner, bound.node);
  return bound.known;
}
