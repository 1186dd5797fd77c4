import type { LiteralFields } from '../../schema/type-schema.js';
import type { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import type { Declaration } from '../syntax.js';
import type { SourceOrder } from './source-order.js';
import type { ReadType } from './type-results.js';

/** The use of a type: a `response` may contain mapper classes, `data` is plain, a `result` is only returned. */
export type TypeUse = 'data' | 'result' | 'response';

/** The reference to a type that is being read. It gets its literals when that has been read. */
export interface OpenType {
  readonly kind: 'again';
  readonly name: string;
  literals?: LiteralFields;
}

/** The state of reading one type. */
export interface Reading {
  readonly context: ReadContext;
  readonly use: TypeUse;
  /** What enclosing declarations, and types of the checker, are within themselves: references to them, if possible. */
  readonly open: ReadonlyMap<unknown, ReadType>;
  /** The references to types without a declaration, such as `Partial<A>`, within the innermost open declaration. */
  readonly composed: ReadonlyMap<unknown, ReadType>;
  /** Number of types that may still be read. A few lines can expand to millions of types. */
  readonly budget: { left: number };
  /** Reads a type node. */
  readonly read: (reading: Reading, node: ts.TypeNode) => ReadType;
  /** Reads a declaration of this project. @param node where it is used */
  readonly readDeclared: (reading: Reading, declaration: Declaration, node: ts.Node) => ReadType;
}

export const NOTHING_COMPOSED: Reading['composed'] = new Map();

/** A question to the checker. */
export interface Asking {
  readonly reading: Reading;
  readonly checker: ts.TypeChecker;
  /** What the source says where the type is used. */
  readonly node: ts.Node;
  readonly order: SourceOrder;
}

/** Maximum number of types in one field. */
export const TYPE_BUDGET = 20_000;

/** Maximum nesting of named types. A deeper type usually contains itself with new arguments each time. */
export const DEEPEST = 40;
