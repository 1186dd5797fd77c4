import { ts } from './compiler.js';
import { propertyName } from './read-literal.js';

/** A node that declares a field, or a constructor parameter. */
type Declaring = ts.PropertyDeclaration | ts.ParameterDeclaration;

/** The code of a field that nothing in its class assigns: `readonly note?: string;` or `readonly title!: string;`. */
export function fieldForm(node: Declaring): string {
  return `readonly ${node.name.getText()}${node.questionToken === undefined ? '!' : '?'}: ${typeForm(node)};`;
}

/** The code of a field that the constructor assigns from a parameter. */
export function assignedFieldForm(node: ts.ParameterDeclaration): string {
  return `readonly ${node.name.getText()}${node.questionToken === undefined ? '' : '?'}: ${typeForm(node)};`;
}

/** The code of a member that lacks its type, or a name that is known before the program runs. */
export function completeForm(
  member: ts.PropertyDeclaration | ts.PropertySignature | ts.GetAccessorDeclaration,
): string {
  const name = propertyName(member.name) ?? 'field';
  if (ts.isGetAccessorDeclaration(member)) {
    const type = member.type?.getText() ?? 'string';
    return `get ${name}(): ${type} ${member.body?.getText() ?? ''}`.replaceAll(/\s+/g, ' ').trim();
  }
  const isInterface = ts.isPropertySignature(member);
  const mark = member.questionToken !== undefined ? '?' : isInterface ? '' : '!';
  const type = isInterface ? (member.type?.getText() ?? 'string') : typeForm(member);
  return `readonly ${name}${mark}: ${type};`;
}

/** The type as written, else that of a literal initializer. */
function typeForm({ type, initializer }: Declaring): string {
  if (type !== undefined) return type.getText().replaceAll(/\s+/g, ' ');
  switch (initializer?.kind) {
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
