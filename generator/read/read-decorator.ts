import type { Located } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { type Expected, readFitting, readProperties } from './read-literal.js';
import { resolveExpression } from './resolver.js';
import { locationOf } from './source-files.js';

/** Decorators that mark a class. */
export const CLASS_MARKERS: ReadonlySet<string> = new Set(
  'AutoBuilder FwAction FwEvent FwEventHandler FwSaga FwSchedule HttpRoute'.split(' '),
);

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

/** The forms of a decorator's options by name; undefined for an expression that the caller reads. */
type Forms = Readonly<Record<string, Expected<unknown> | undefined>>;

type ValueOf<Form> = Form extends Expected<infer Value> ? Value : never;

/** The options of a decorator. */
export interface Options<Of extends Forms> {
  /** Their values in the order of the forms, except those that do not fit. */
  readonly values: { readonly [Name in keyof Of]?: ValueOf<Of[Name]> };
  /** Their expressions. */
  readonly nodes: ReadonlyMap<string, ts.Expression>;
}

/** Reads the properties of an options object. Reports unknown properties and values that do not fit. */
export function readOptions<Of extends Forms>(
  context: ReadContext,
  argument: ts.Node | undefined,
  forms: Of,
): Options<Of> {
  const nodes = argument === undefined ? new Map<string, ts.Expression>() : readProperties(context, argument);
  const values: Record<string, unknown> = {};
  for (const [name, form] of Object.entries(forms)) {
    const problem = `is not valid for the option ${name}`;
    const value = form && readFitting(context, nodes.get(name), { problem, ...form });
    if (value !== undefined) values[name] = value;
  }
  for (const [name, node] of nodes) {
    if (Object.hasOwn(forms, name)) continue;
    const hint = `Use one of ${Object.keys(forms).join(', ')}.`;
    report(context, 'FWGEN002', node, `Unknown option ${JSON.stringify(name)}`, hint);
  }
  return { values: values as Options<Of>['values'], nodes };
}

/** Returns an option with its location. */
export function located<Of extends Forms, Name extends keyof Of & string>(
  { values, nodes }: Options<Of>,
  name: Name,
): Located<ValueOf<Of[Name]>> | undefined {
  const [value, node] = [values[name], nodes.get(name)];
  return value === undefined || node === undefined ? undefined : { value, location: locationOf(node) };
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
