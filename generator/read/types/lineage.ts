import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { type ResolvedExpression, resolveExpression } from '../resolver.js';
import { extendsClause, nameText } from '../syntax.js';

/** The base class in an `extends` clause. */
export interface Heritage extends ResolvedExpression {
  readonly clause: ts.ExpressionWithTypeArguments;
}

/** Resolves the base class of `node`; undefined if there is none. */
export function readHeritage(context: ReadContext, node: ts.ClassLikeDeclaration): Heritage | undefined {
  const clause = extendsClause(node);
  if (clause === undefined) return undefined;
  const { resolved, expression, typeArguments } = resolveExpression(context, clause.expression);
  return { resolved, expression, clause, typeArguments: clause.typeArguments ?? typeArguments };
}

/** Type arguments of classes, by the names of their parameters. */
type Bindings = ReadonlyMap<ts.ClassDeclaration, ReadonlyMap<string, ts.TypeNode>>;

/** A class and its base classes in this project. */
export interface Lineage {
  /** The class itself first. */
  readonly classes: readonly [ts.ClassDeclaration, ...ts.ClassDeclaration[]];
  /** What the class itself extends. */
  readonly heritage: Heritage | undefined;
  /** What the last class extends: a class of this package, or an unknown one. */
  readonly root: Heritage | undefined;
  /** Type arguments of the root. */
  readonly arguments: readonly ts.TypeNode[];
  readonly bindings: Bindings;
}

/** Follows `extends` through classes of this project. A cycle ends where it closes. */
export function followLineage(context: ReadContext, node: ts.ClassDeclaration): Lineage {
  const heritage = readHeritage(context, node);
  const classes: [ts.ClassDeclaration, ...ts.ClassDeclaration[]] = [node];
  const bindings = new Map<ts.ClassDeclaration, ReadonlyMap<string, ts.TypeNode>>();
  for (let root = heritage; ; ) {
    const given = (root?.typeArguments ?? []).map((each) => argumentOf({ bindings }, each));
    const base = root?.resolved.kind === 'declared' ? root.resolved.declaration : undefined;
    if (base === undefined || !ts.isClassDeclaration(base) || classes.includes(base))
      return { classes, heritage, root, arguments: given, bindings };
    const bound = new Map<string, ts.TypeNode>();
    bindings.set(base, bound);
    for (const [index, { name, default: byDefault }] of (base.typeParameters ?? []).entries()) {
      const argument = given[index] ?? (byDefault && argumentOf({ bindings }, byDefault));
      if (argument !== undefined) bound.set(name.text, argument);
    }
    classes.push(base);
    root = readHeritage(context, base);
  }
}

/** Whether the root is a class of this package with one of these names. */
export function leadsTo({ root }: Lineage, ...names: readonly string[]): boolean {
  return root?.resolved.kind === 'framework' && names.includes(root.resolved.name);
}

/** Returns the argument for a type that is a type parameter of its class; the type itself if it is none. */
export function argumentOf({ bindings }: Pick<Lineage, 'bindings'>, node: ts.TypeNode): ts.TypeNode {
  if (bindings.size === 0 || !ts.isTypeReferenceNode(node) || node.typeArguments !== undefined) return node;
  const owner = ts.findAncestor(node, ts.isClassDeclaration);
  return (owner && bindings.get(owner)?.get(nameText(node.typeName))) ?? node;
}

/** Whether a type mentions a type parameter of its class, so that only the checker knows it. */
export function isOpen(node: ts.Node): boolean {
  const parameters = ts.findAncestor(node, ts.isClassDeclaration)?.typeParameters ?? [];
  if (parameters.length === 0) return false;
  const words = node.getText().split(/\W+/);
  return parameters.some(({ name }) => words.includes(name.text));
}
