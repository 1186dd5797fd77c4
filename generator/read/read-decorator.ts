import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { literalProperties, reportNotLiteral } from './read-literal.js';
import { resolveName } from './resolver.js';

/** The decorator of this package with this name, whatever the class's file calls it. A second one is reported. */
export function readDecorator(
  context: ReadContext,
  node: ts.ClassDeclaration,
  name: string,
): ts.Decorator | undefined {
  const [first, second] = decoratorsNamed(context, node, name);
  if (second !== undefined) {
    report(context, 'FWGEN002', second, `@${name} stands here twice`, 'Remove one: a class has one of each.');
  }
  return first;
}

/** True if the class carries this decorator of this package. */
export function hasDecorator(context: ReadContext, node: ts.ClassDeclaration, name: string): boolean {
  return decoratorsNamed(context, node, name).length > 0;
}

function decoratorsNamed(
  context: ReadContext,
  node: ts.ClassDeclaration,
  name: string,
): readonly ts.Decorator[] {
  const decorators = ts.getDecorators(node);
  if (decorators === undefined) return [];
  return decorators.filter(({ expression }) => {
    const callee = ts.isCallExpression(expression) ? expression.expression : expression;
    const resolved = resolveName(context, node.getSourceFile(), callee.getText());
    return resolved.kind === 'framework' && resolved.name === name;
  });
}

/** The arguments of a decorator that is called; none for one that stands bare. */
export function decoratorArguments({ expression }: ts.Decorator): readonly ts.Expression[] {
  return ts.isCallExpression(expression) ? expression.arguments : [];
}

/** The properties of a decorator's options object as nodes; unknown ones are reported. */
export function readOptions(
  context: ReadContext,
  argument: ts.Node | undefined,
  known: readonly string[],
): ReadonlyMap<string, ts.Expression> {
  if (argument === undefined) return new Map();
  if (!ts.isObjectLiteralExpression(argument)) {
    reportNotLiteral(context, argument);
    return new Map();
  }
  const options = literalProperties(context, argument.properties);
  for (const [name, node] of options) {
    if (known.includes(name)) continue;
    report(
      context,
      'FWGEN002',
      node,
      `Unknown option ${JSON.stringify(name)}`,
      `Use one of ${known.join(', ')}.`,
    );
  }
  return options;
}
