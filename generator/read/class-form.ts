import { type ClassDeclaration, type ExpressionWithTypeArguments, Node } from 'ts-morph';
import { type ReadContext, report } from './read-context.js';
import { type Resolved, referenceToDeclaration, resolveName } from './resolver.js';

/**
 * Checks what every class that generated code imports must be: exported under its own name, concrete, not generic.
 * @returns its name, or undefined if it has none
 */
export function readClassName(context: ReadContext, node: ClassDeclaration): string | undefined {
  const name = node.getName();
  const place = node.getNameNode() ?? node;
  const label = name ?? 'A class without a name';
  if (name === undefined || referenceToDeclaration(node)?.name !== name) {
    report(
      context,
      'FWGEN008',
      place,
      `${label} is not exported under its own name`,
      `Write \`export class ${name ?? 'Name'}\`: generated code imports it by name, a default export has none.`,
    );
    return undefined;
  }
  if (node.isAbstract()) {
    report(
      context,
      'FWGEN009',
      place,
      `${name} is abstract`,
      'Make it concrete: generated code makes instances of it.',
    );
  }
  if (node.getTypeParameters().length > 0) {
    report(
      context,
      'FWGEN009',
      place,
      `${name} is generic`,
      'Remove its type parameters: a table, event or action has one shape.',
    );
  }
  return name;
}

/** What a class extends. */
export interface Heritage {
  readonly resolved: Resolved;
  readonly clause: ExpressionWithTypeArguments;
}

/** The class that `node` extends, resolved; undefined if there is none. */
export function readHeritage(context: ReadContext, node: ClassDeclaration): Heritage | undefined {
  const clause = node.getExtends();
  if (clause === undefined) return undefined;
  return { clause, resolved: resolveName(context, node.getSourceFile(), clause.getExpression().getText()) };
}

/** What a class extends, if that is a class of this package. */
export interface FrameworkHeritage extends Heritage {
  readonly resolved: Extract<Resolved, { kind: 'framework' }>;
}

/** True if `heritage` is a class of this package with one of these names. */
export function extendsFramework(
  heritage: Heritage | undefined,
  ...names: readonly string[]
): heritage is FrameworkHeritage {
  return heritage?.resolved.kind === 'framework' && names.includes(heritage.resolved.name);
}

/** True for a class that generated code can make: no `private` or `protected` constructor. */
export function hasPublicConstructor(node: ClassDeclaration): boolean {
  return node.getConstructors().every((each) => each.getScope() === 'public');
}

/** True if the class declares (or implements by assignment) a static member of this name. */
export function hasStaticMember(node: ClassDeclaration, name: string): boolean {
  return node
    .getStaticMembers()
    .some((member) => !Node.isClassStaticBlockDeclaration(member) && member.getName() === name);
}
