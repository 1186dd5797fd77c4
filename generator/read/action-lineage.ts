import { type ClassForm, extendsFramework, type Heritage, readHeritage } from './class-form.js';
import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';

/** An action class, its base classes in this project, and what they make of `Action<Params, Result>`. */
export interface ActionLineage {
  /** The class itself first, then each base class below `Action`. */
  readonly classes: readonly ts.ClassDeclaration[];
  /** Where `Action` gets its params type from: the clause of the class, or of one of its bases. */
  readonly params: ts.TypeNode;
  readonly result: ts.TypeNode;
}

/**
 * Follows `extends` from a class to `Action`, through classes that this project declares.
 *
 * @returns undefined if the chain ends elsewhere, is a circle, or gives `Action` fewer than two type arguments
 */
export function readLineage(context: ReadContext, { node, heritage }: ClassForm): ActionLineage | undefined {
  const classes = [node];
  let bound: TypeArguments = new Map();
  let at: Heritage | undefined = heritage;
  while (at !== undefined) {
    const given = (at.clause.typeArguments ?? []).map((argument) => substitute(argument, bound));
    if (extendsFramework(at, 'Action')) {
      const [params, result] = given;
      return params === undefined || result === undefined ? undefined : { classes, params, result };
    }
    const base = at.resolved.kind === 'declared' ? at.resolved.declaration : undefined;
    if (base === undefined || !ts.isClassDeclaration(base) || classes.includes(base)) return undefined;
    classes.push(base);
    bound = bind(base, given);
    at = readHeritage(context, base);
  }
  return undefined;
}

/** Type arguments by the names of the type parameters that they are given for. */
type TypeArguments = ReadonlyMap<string, ts.TypeNode>;

function bind(base: ts.ClassDeclaration, given: readonly ts.TypeNode[]): TypeArguments {
  const bound = new Map<string, ts.TypeNode>();
  for (const [index, { name, default: byDefault }] of (base.typeParameters ?? []).entries()) {
    const argument = given[index] ?? (byDefault && substitute(byDefault, bound));
    if (argument !== undefined) bound.set(name.text, argument);
  }
  return bound;
}

/** A type parameter becomes its argument. Types that only contain one stay as they are, and are refused when read. */
function substitute(node: ts.TypeNode, bound: TypeArguments): ts.TypeNode {
  if (!ts.isTypeReferenceNode(node) || node.typeArguments !== undefined) return node;
  return (ts.isIdentifier(node.typeName) ? bound.get(node.typeName.text) : undefined) ?? node;
}
