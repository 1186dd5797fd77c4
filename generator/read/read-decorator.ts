import { type ClassDeclaration, type Decorator, Node } from 'ts-morph';
import { type ReadContext, report } from './read-context.js';
import { literalProperties, reportNotLiteral } from './read-literal.js';
import { resolveName } from './resolver.js';

/** The decorator of this package with this name, whatever the class's file calls it. A second one is reported. */
export function readDecorator(
  context: ReadContext,
  node: ClassDeclaration,
  name: string,
): Decorator | undefined {
  const [first, second] = decoratorsNamed(context, node, name);
  if (second !== undefined) {
    report(context, 'FWGEN002', second, `@${name} stands here twice`, 'Remove one: a class has one of each.');
  }
  return first;
}

/** True if the class carries this decorator of this package. */
export function hasDecorator(context: ReadContext, node: ClassDeclaration, name: string): boolean {
  return decoratorsNamed(context, node, name).length > 0;
}

function decoratorsNamed(context: ReadContext, node: ClassDeclaration, name: string): readonly Decorator[] {
  return node.getDecorators().filter((decorator) => {
    const expression = decorator.getExpression();
    const callee = Node.isCallExpression(expression) ? expression.getExpression() : expression;
    const resolved = resolveName(context, node.getSourceFile(), callee.getText());
    return resolved.kind === 'framework' && resolved.name === name;
  });
}

/** The properties of a decorator's options object as nodes; unknown ones are reported. */
export function readOptions(
  context: ReadContext,
  argument: Node | undefined,
  known: readonly string[],
): ReadonlyMap<string, Node> {
  if (argument === undefined) return new Map();
  if (!Node.isObjectLiteralExpression(argument)) {
    reportNotLiteral(context, argument);
    return new Map();
  }
  const options = literalProperties(context, argument.getProperties());
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
