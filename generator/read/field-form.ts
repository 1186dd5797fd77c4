import { ts } from './compiler.js';
import { propertyName } from './read-literal.js';

/** A member of a class or an interface that declares a field, or a constructor parameter that does. */
export type FieldNode = Declaring | ts.PropertySignature | ts.GetAccessorDeclaration;

type Declaring = ts.PropertyDeclaration | ts.ParameterPropertyDeclaration;

/**
 * The code of a public field: `readonly note?: string;`, `readonly title!: string;`, or without `!;` of a parameter.
 *
 * @param mark of a required field: '' in an interface
 */
export function fieldForm(
  node: Declaring | ts.PropertySignature,
  mark: '!' | '' = '!',
  name: string = node.name.getText(),
): string {
  const required = ts.isParameter(node) ? '' : mark;
  const form = `readonly ${name}${node.questionToken === undefined ? required : '?'}: ${typeForm(node)}`;
  return ts.isParameter(node) ? form : `${form};`;
}

/** The code of a member that lacks its type, or a name that is known before the program runs. */
export function completeForm(member: FieldNode): string {
  const name = propertyName(member.name) ?? 'field';
  if (!ts.isGetAccessorDeclaration(member))
    return fieldForm(member, ts.isPropertySignature(member) ? '' : '!', name);
  const type = member.type?.getText() ?? 'string';
  return `get ${name}(): ${type} ${member.body?.getText() ?? ''}`.replaceAll(/\s+/g, ' ').trim();
}

/** Whether a field is declared with `?`. */
export function isMarked(field: FieldNode): boolean {
  return !ts.isGetAccessorDeclaration(field) && field.questionToken !== undefined;
}

/** The type as written, else that of a literal initializer. */
function typeForm(node: Declaring | ts.PropertySignature): string {
  if (node.type !== undefined) return node.type.getText().replaceAll(/\s+/g, ' ');
  switch (ts.isPropertySignature(node) ? undefined : node.initializer?.kind) {
    case ts.SyntaxKind.NumericLiteral:
      return 'number';
    case ts.SyntaxKind.BigIntLiteral:
      return 'bigint';
    case ts.SyntaxKind.TrueKeyword:
    case ts.SyntaxKind.FalseKeyword:
      return 'boolean';
    default:
      return 'string';
  }
}
