import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { ts } from './compiler.js';
import { migrationFileName, sqlMistake } from './migration-files.js';
import { bareExpression } from './syntax.js';

/** The content of a migration's file. */
export interface MigrationText {
  readonly name: string;
  /** SQL exactly as the application sends it. */
  readonly up: string;
  /** Position of the SQL, if its lines are lines of the file. */
  readonly origin?: { readonly file: string; readonly line: number };
}

/** Reads the SQL of an `.sql` file or of a migration module from the text. Does not execute the module. */
export function readMigrationSql(file: string, text: string): MigrationText | Diagnostic {
  const { name, language } = migrationFileName(file) ?? {};
  if (name === undefined || language === 'ts') return readModule(file, text);
  const up = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  return sqlMistake(file, up) ?? { name, up, origin: { file, line: 1 } };
}

function readModule(file: string, text: string): MigrationText | Diagnostic {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const call = definition(source);
  if (call === undefined) {
    return problem(file, 'The file does not export a `migration` created by defineMigration');
  }
  const [name, up] = call.arguments.map(literalText);
  if (name === undefined || up === undefined || call.arguments.length !== 2) {
    return problem(file, 'The arguments of defineMigration are not string literals');
  }
  const literal = call.arguments[1];
  if (literal === undefined || !ts.isNoSubstitutionTemplateLiteral(literal)) return { name, up };
  const { line } = source.getLineAndCharacterOfPosition(literal.getStart(source));
  return { name, up, origin: { file, line: line + 1 } };
}

function problem(file: string, message: string): Diagnostic {
  const hint =
    'Write `export const migration: Migration = defineMigration(name, sql)` with two string literals.';
  return diagnostic('FWGEN035', { file }, message, hint);
}

/** Finds the call in `export const migration = defineMigration(...)`. */
function definition(source: ts.SourceFile): ts.CallExpression | undefined {
  const declarations = source.statements
    .filter(ts.isVariableStatement)
    .flatMap((statement) => [...statement.declarationList.declarations]);
  const declared = declarations.find(({ name }) => ts.isIdentifier(name) && name.text === 'migration');
  const value = declared?.initializer === undefined ? undefined : bareExpression(declared.initializer);
  return value !== undefined && ts.isCallExpression(value) && isDefineMigration(value) ? value : undefined;
}

function isDefineMigration({ expression }: ts.CallExpression): boolean {
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
  return ts.isIdentifier(name) && name.text === 'defineMigration';
}

/** Returns the value of string and template literals, also of a concatenation. */
function literalText(node: ts.Expression): string | undefined {
  const value = bareExpression(node);
  if (ts.isStringLiteral(value) || ts.isNoSubstitutionTemplateLiteral(value)) return value.text;
  if (!ts.isBinaryExpression(value) || value.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [literalText(value.left), literalText(value.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}
