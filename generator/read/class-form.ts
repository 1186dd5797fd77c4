import type { SourceLocation } from '../schema/location.js';
import type { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { type ClassDecorators, readDecorators } from './read-decorator.js';
import { referenceToDeclaration } from './resolver.js';
import { fileOf, locationOf } from './source-files.js';
import { extendsClause, isBase } from './syntax.js';
import { followLineage, type Lineage } from './types/lineage.js';
import { reportRefusal } from './unresolved.js';

/**
 * Checks the form of a class that generated code imports: exported under its own name, concrete, not generic.
 * @returns its name; undefined for a class without a name
 */
export function readClassName(context: ReadContext, node: ts.ClassDeclaration): string | undefined {
  const name = node.name?.text;
  const place = node.name ?? node;
  const label = name ?? 'A class without a name';
  if (name === undefined || referenceToDeclaration(node)?.name !== name) {
    const hint = `Write \`export class ${name ?? 'Name'}\`: generated code imports the class by its name, not as a default export.`;
    return report(context, 'FWGEN008', place, `${label} is not exported under its own name`, hint);
  }
  if (isBase(node)) {
    const hint = 'Remove `abstract`: generated code creates instances of the class.';
    report(context, 'FWGEN009', place, `${name} is abstract`, hint);
  }
  if ((node.typeParameters?.length ?? 0) > 0) {
    const hint = 'Remove its type parameters: a table, event or action has a single shape.';
    report(context, 'FWGEN009', place, `${name} is generic`, hint);
  }
  return name;
}

/** Returns the place of a class. */
export function placeOf(node: ts.ClassDeclaration): {
  readonly file: string;
  readonly location: SourceLocation;
} {
  return { file: fileOf(node), location: locationOf(node.name ?? node) };
}

/** Reports a marked class that does not extend the class of this package that its marker is for. @returns undefined */
export function reportWrongBase(
  context: ReadContext,
  { node, lineage }: Omit<ClassForm, 'decorators'>,
  marker: string,
  hint: string,
): undefined {
  const subject = `${node.name?.text ?? 'The class'} is marked with @${marker} but`;
  const clause = extendsClause(node);
  const message = `${subject} extends ${clause?.getText() ?? 'nothing'}`;
  const refusal = { code: 'FWGEN007' as const, node: clause ?? node.name ?? node, subject, message, hint };
  return reportRefusal(context, refusal, lineage.root?.clause);
}

/** A class with its decorators and base classes, which determine its kind. */
export interface ClassForm {
  readonly node: ts.ClassDeclaration;
  readonly lineage: Lineage;
  readonly decorators: ClassDecorators;
}

/** Reads the decorators and the base classes of a class. Reports a repeated decorator. */
export function readClassForm(context: ReadContext, node: ts.ClassDeclaration): ClassForm {
  const lineage = followLineage(context, node);
  return { node, lineage, decorators: readDecorators(context, node) };
}
