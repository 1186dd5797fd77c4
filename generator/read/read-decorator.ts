import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { literalProperties, readFitting, reportNotLiteral, TEXT } from './read-literal.js';
import { resolveExpression } from './resolver.js';

/** The decorators of this package on a class, by exported name. */
export type ClassDecorators = ReadonlyMap<string, ts.Decorator>;

const NONE: ClassDecorators = new Map();

/** Reads the decorators of a class: the first one of each name. Reports further ones. */
export function readDecorators(context: ReadContext, node: ts.ClassDeclaration): ClassDecorators {
  if (node.modifiers === undefined) return NONE;
  const found = new Map<string, ts.Decorator>();
  const repeated = new Set<string>();
  for (const modifier of node.modifiers) {
    const name = decoratorName(context, modifier);
    if (name === undefined || !ts.isDecorator(modifier)) continue;
    if (!found.has(name)) found.set(name, modifier);
    else if (!repeated.has(name)) {
      repeated.add(name);
      const hint = 'Remove one of them.';
      report(context, 'FWGEN002', modifier, `@${name} is repeated`, hint);
    }
  }
  return found;
}

/** Returns the decorator of a class with this name. */
export function decoratorNamed(
  context: ReadContext,
  { modifiers = [] }: { readonly modifiers?: readonly ts.ModifierLike[] | undefined },
  name: string,
): ts.Decorator | undefined {
  return modifiers.filter(ts.isDecorator).find((each) => decoratorName(context, each) === name);
}

/**
 * Returns the `name` in the options of a class's `@AutoBuilder`. The file that declares the class reports a name that is
 * not valid.
 */
export function storedNameIn(context: ReadContext, builder: ts.Decorator | undefined): string | undefined {
  const [options] = builder === undefined ? [] : decoratorArguments(builder);
  if (options === undefined || !ts.isObjectLiteralExpression(options)) return undefined;
  const silent = { ...context, diagnostics: [] };
  return readFitting(silent, literalProperties(silent, options.properties).get('name'), TEXT)?.value;
}

/** Reads one option. Reports a value that does not fit. */
export function readOption<T>(
  context: ReadContext,
  options: ReadonlyMap<string, ts.Expression>,
  name: string,
  isFit: (value: unknown) => value is T,
  expected: string,
): T | undefined {
  const problem = `is not valid for the option ${name}`;
  return readFitting(context, options.get(name), { isFit, problem, hint: `Write ${expected}.` })?.value;
}

/** Stable names of a class in stored data. */
export interface StableNames {
  readonly name: string | undefined;
  readonly aliases: readonly string[] | undefined;
}

/** Reads the options `name` and `aliases`. */
export function readStableNames(
  context: ReadContext,
  options: ReadonlyMap<string, ts.Expression>,
): StableNames {
  return {
    name: readOption(context, options, 'name', isName, NAME_FORM),
    aliases: readOption(context, options, 'aliases', isNames, 'a list of earlier names'),
  };
}

/** The form of a name, for messages. */
export const NAME_FORM = 'a string of 1 to 100 visible ASCII characters';

/** Whether it can be the stable name of a class or a principal: 1 to 100 visible ASCII characters. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[!-~]{1,100}$/.test(value);
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isName);
}

/** Returns the name of a decorator of this package; undefined for any other modifier. */
export function decoratorName(context: ReadContext, modifier: ts.ModifierLike): string | undefined {
  if (!ts.isDecorator(modifier)) return undefined;
  const { resolved } = resolveExpression(context, calleeOf(modifier));
  return resolved.kind === 'framework' ? resolved.name : undefined;
}

/** Returns the name of a decorator, with or without a call. */
export function calleeOf({ expression }: ts.Decorator): ts.Expression {
  return ts.isCallExpression(expression) ? expression.expression : expression;
}

/** Returns the arguments of a decorator; empty for a decorator without a call. */
export function decoratorArguments({ expression }: ts.Decorator): readonly ts.Expression[] {
  return ts.isCallExpression(expression) ? expression.arguments : [];
}

/** Returns the properties of a decorator's options object as nodes. Reports unknown properties. */
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
    const hint = `Use one of ${known.join(', ')}.`;
    report(context, 'FWGEN002', node, `Unknown option ${JSON.stringify(name)}`, hint);
  }
  return options;
}
