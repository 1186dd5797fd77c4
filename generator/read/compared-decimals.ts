import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { ModelSchema } from '../schema/project-schema.js';
import type { FieldSchema } from '../schema/type-schema.js';
import { ts } from './compiler.js';
import { type Perform, variableOf } from './shards/perform.js';
import { locationOf, type SourceFiles } from './source-files.js';
import { classNamed } from './syntax.js';

/** The relational operators, with the methods of `Decimal` that compare numbers. */
const METHODS: Readonly<Record<string, string>> = {
  '<': 'lessThan',
  '<=': 'lessThanOrEqualTo',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqualTo',
};

/** Reports a decimal field or parameter that a model compares by an operator. */
export function comparedInModel(sources: SourceFiles, model: ModelSchema): readonly Diagnostic[] {
  const source = sources.load(model.file);
  const node = source && classNamed(source, model.name);
  const decimals = decimalsOf(model.fields);
  return comparisons(node, (operand) => {
    if (ts.isIdentifier(operand)) return parameterType(operand) === 'Decimal';
    const isOwn =
      ts.isPropertyAccessExpression(operand) && operand.expression.kind === ts.SyntaxKind.ThisKeyword;
    return isOwn && decimals.has(operand.name.text);
  });
}

/** Reports a decimal of the params that an action compares by an operator. */
export function comparedInPerform(perform: Perform): readonly Diagnostic[] {
  const decimals = decimalsOf(perform.action.params);
  const isParams = (value: ts.Expression | 'params' | undefined): boolean => {
    if (value === undefined || value === 'params') return value === 'params';
    const variable = ts.isIdentifier(value) ? variableOf(perform, value) : undefined;
    return variable?.value === 'params' && variable.part === undefined;
  };
  return comparisons(perform.body, (operand) => {
    if (ts.isPropertyAccessExpression(operand))
      return isParams(operand.expression) && decimals.has(operand.name.text);
    const { value, part = '' } = (ts.isIdentifier(operand) && variableOf(perform, operand)) || {};
    return isParams(value) && decimals.has(part);
  });
}

function decimalsOf(fields: readonly FieldSchema[]): ReadonlySet<string> {
  return new Set(fields.filter(({ type }) => type.kind === 'decimal').map(({ name }) => name));
}

/** decimal.js gives operators a text: 10 < 9 is true. */
function comparisons(
  root: ts.Node | undefined,
  isDecimal: (operand: ts.Expression) => boolean,
): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isBinaryExpression(node)) return;
    const { left, right } = node;
    const operator = node.operatorToken.getText();
    const method = METHODS[operator];
    if (method === undefined || !(isDecimal(left) || isDecimal(right))) return;
    const hint = `Write \`${left.getText()}.${method}(${right.getText()})\`.`;
    const message = `\`${operator}\` compares decimals as texts: 10 is less than 9`;
    found.push(diagnostic('FWGEN074', locationOf(node), message, hint));
  };
  if (root !== undefined) visit(root);
  return found;
}

/** The type of the parameter that a name means, as it is written. */
function parameterType(node: ts.Identifier): string | undefined {
  const method = ts.findAncestor(node, ts.isMethodDeclaration);
  return method?.parameters.find(({ name }) => name.getText() === node.text)?.type?.getText();
}
