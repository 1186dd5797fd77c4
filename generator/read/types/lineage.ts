import { ts } from '../compiler.js';
import { extendsFramework, type Heritage, readHeritage } from '../heritage.js';
import type { ReadContext } from '../read-context.js';
import { nameText } from '../syntax.js';

/** A type node with the types of the type parameters in its scope. */
export interface ScopedNode {
  readonly node: ts.TypeNode;
  readonly scope: Scope;
}

/** Type arguments by the names of their parameters. */
export type Scope = ReadonlyMap<string, ScopedNode>;

export const NO_SCOPE: Scope = new Map();

/** A class with the types of its type parameters. */
export interface ScopedClass {
  readonly node: ts.ClassDeclaration;
  readonly scope: Scope;
}

/** A class and its base classes in this project. */
export interface Lineage {
  /** The class itself first. */
  readonly classes: readonly [ScopedClass, ...ScopedClass[]];
  /** What the class itself extends. */
  readonly heritage: Heritage | undefined;
  /** What the last class extends: a class of this package, or an unknown one. */
  readonly root: Heritage | undefined;
  /** Type arguments of the root. */
  readonly arguments: readonly ScopedNode[];
}

/** Follows `extends` through classes of this project. A cycle ends where it closes. */
export function followLineage(context: ReadContext, node: ts.ClassDeclaration): Lineage {
  const heritage = readHeritage(context, node);
  const classes: [ScopedClass, ...ScopedClass[]] = [{ node, scope: NO_SCOPE }];
  let root = heritage;
  for (let last: ScopedClass = classes[0]; ; ) {
    const given = root?.typeArguments ?? [];
    const { scope } = last;
    const base = root?.resolved.kind === 'declared' ? root.resolved.declaration : undefined;
    const isNext =
      base !== undefined && ts.isClassDeclaration(base) && !classes.some((each) => isSame(each, base));
    if (!isNext) return { classes, heritage, root, arguments: given.map((each) => ({ node: each, scope })) };
    last = { node: base, scope: bindArguments(base.typeParameters, given, scope) };
    classes.push(last);
    root = readHeritage(context, base);
  }
}

/** By position, because a tree may be parsed again between two reads. */
function isSame({ node }: ScopedClass, other: ts.ClassDeclaration): boolean {
  return node.pos === other.pos && node.getSourceFile().fileName === other.getSourceFile().fileName;
}

/** Whether the root is a class of this package with one of these names. */
export function leadsTo(lineage: Lineage, ...names: readonly string[]): boolean {
  return extendsFramework(lineage.root, ...names);
}

function bindArguments(
  parameters: readonly ts.TypeParameterDeclaration[] | undefined,
  given: readonly ts.TypeNode[],
  scope: Scope,
): Scope {
  const bound = new Map<string, ScopedNode>();
  for (const [index, { name, default: byDefault }] of (parameters ?? []).entries()) {
    const argument = given[index];
    if (argument !== undefined) bound.set(name.text, { node: argument, scope });
    else if (byDefault !== undefined) bound.set(name.text, { node: byDefault, scope: new Map(bound) });
  }
  return bound;
}

/** Resolves a type argument: type parameters are replaced by their arguments. */
export function argumentOf({ node, scope }: ScopedNode): ScopedNode {
  const isName = ts.isTypeReferenceNode(node) && node.typeArguments === undefined;
  const bound = isName ? scope.get(nameText(node.typeName)) : undefined;
  return bound === undefined ? { node, scope } : argumentOf(bound);
}
