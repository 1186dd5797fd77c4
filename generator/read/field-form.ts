import { ts } from './compiler.js';
import { propertyName } from './read-literal.js';

/** A member of a class or an interface that declares a field, or a constructor parameter that does. */
export type FieldNode = Declaring | ts.PropertySignature | ts.GetAccessorDeclaration;

type Declaring = ts.PropertyDeclaration | ts.ParameterPropertyDeclaration;

/** The code of a public field: `readonly note?: string;`, `readonly title!: string;`, or without `!;` of a parameter. */
export function fieldForm(node: Declaring): string {
  if (ts.isParameter(node))
    return `readonly ${node.name.text}${node.questionToken === undefined ? '' : '?'}: ${typeForm(node)}`;
  return `readonly ${node.name.getText()}${node.questionToken === undefined ? '!' : '?'}: ${typeForm(node)};`;
}

/** The code of a member that lacks its type, or a name that is known before the program runs. */
export function completeForm(member: FieldNode): string {
  const name = propertyName(member.name) ?? 'field';
  if (ts.isGetAccessorDeclaration(member)) {
    const type = member.type?.getText() ?? 'string';
    return `get ${name}(): ${type} ${member.body?.getText() ?? ''}`.replaceAll(/\s+/g, ' ').trim();
  }
  if (ts.isParameter(member)) return fieldForm(member);
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
