import type { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import type { ReadType } from './type-results.js';

/** What the type is read for: a response may be made of mapper classes, other data is plain; a result is only given. */
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
 * What is asked of a type: a value of it, or, by `keyof`, `Pick` and the like, the fields that it has, for which a
 * class will do. A set names the only fields that are asked for.
 */
export type Shape = 'value' | 'fields' | ReadonlySet<string>;

/** One type on its way from text to schema. */
export interface Reading {
  readonly context: ReadContext;
  readonly use: TypeUse;
  /** Declarations being read and what `again` calls them. */
  readonly open: ReadonlyMap<string, string>;
  readonly scope: Scope;
  /** Named types that are being read within one another. */
  readonly depth: number;
  readonly shape: Shape;
  /** Declarations that were opened below the one around. */
  readonly opened: Set<string>;
  /** Types that may still be read: a few lines can spell millions. */
  readonly budget: { left: number };
  /** Reads a type node. */
  readonly read: (reading: Reading, node: ts.TypeNode) => ReadType;
}

/** Types that one field may be made of. */
export const TYPE_BUDGET = 20_000;

/** Named types within one another; beyond, one leads to itself with ever new arguments. */
export const DEEPEST = 40;

/** Whether the type of a field is asked for. */
export function isAsked({ shape }: Reading, name: string | undefined): boolean {
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

/** The type that a type parameter is bound to. */
export function readBound(reading: Reading, bound: Bound): ReadType {
  if (bound.kind === 'computed') return bound.type;
  const inner = { ...bound.reading, shape: reading.shape, use: reading.use };
  if (reading.shape !== 'value') return reading.read(inner, bound.node);
  bound.known ??= reading.read(inner, bound.node);
  return bound.known;
}
