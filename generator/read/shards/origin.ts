import type { SourceLocation } from '../../schema/location.js';
import { modelNames } from '../../schema/model-names.js';
import type { ProjectIndex } from '../../schema/project-index.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { abbreviate } from '../read-literal.js';
import { resolveName } from '../resolver.js';
import { fileOf, locationOf } from '../source-files.js';
import { classNamed, isInstanceMember, parameterProperties } from '../syntax.js';

/** What determines the shard of a value. Values with the same key are on the same shard. */
export interface Origin {
  readonly key: string;
  /** For messages: `params.walletId`, `ShardIdentifier (1, 0)`. */
  readonly text: string;
  readonly location: SourceLocation;
  /** The shard itself, if the source contains it: `(1, 0)`. */
  readonly constant?: string;
}

/** What the source says about a value. */
export interface Value {
  /** What determines its shard; undefined if the source does not tell. */
  readonly origin?: Origin | undefined;
  /** Class name of the model that it is, or that it builds. */
  readonly model?: string;
  readonly kind?: 'params' | 'plan' | 'builder';
}

const UNKNOWN: Value = {};

/** Where an expression stands. */
export interface Scope {
  readonly context: ReadContext;
  readonly index: ProjectIndex;
  /** Models by the properties of the action that contain their repositories. */
  readonly repositories: ReadonlyMap<string, string>;
  readonly locals: Map<string, Value>;
  /** Whether the code may run more than once. An expression then has several values. */
  readonly isRepeated: boolean;
  /** Number of constants that led here. */
  readonly depth: number;
}

/** Maximum length of a chain of constants; a longer chain is a cycle. */
const MOST_CONSTANTS = 8;

/**
 * Follows an expression in its direct forms: params, constants, `const` variables, reads by id or key, new ids, builders,
 * and factories and methods of models by the types of their parameters. Any other expression is an origin of its own.
 */
export function evaluate(scope: Scope, given: ts.Expression): Value {
  const node = withoutWrapping(given);
  if (ts.isIdentifier(node)) return scope.locals.get(node.text) ?? constantOf(scope, node);
  if (ts.isPropertyAccessExpression(node))
    return memberOf(evaluate(scope, node.expression), node.name.text, node);
  if (!ts.isCallExpression(node)) return UNKNOWN;
  const found = ts.isPropertyAccessExpression(node.expression)
    ? callOf(scope, node, node.expression)
    : undefined;
  return found ?? opaque(scope, node);
}

/** Binds the names of a declaration to its initializer. A name that may be assigned again is unknown. */
export function bind(scope: Scope, name: ts.BindingName, value: Value, initializer?: ts.Expression): void {
  if (ts.isIdentifier(name)) {
    const isPlain = value.kind === undefined && value.origin === undefined && initializer !== undefined;
    scope.locals.set(name.text, isPlain ? { ...opaque(scope, name), ...value } : value);
  } else if (ts.isObjectBindingPattern(name)) {
    for (const { name: local, propertyName = local, initializer: byDefault } of name.elements) {
      const isKnown = ts.isIdentifier(propertyName) && byDefault === undefined;
      bind(scope, local, isKnown ? memberOf(value, propertyName.text, local) : UNKNOWN);
    }
  } else {
    const items = initializer === undefined ? [] : itemsOf(initializer);
    name.elements.forEach((element, index) => {
      const item = items[index];
      if (!ts.isOmittedExpression(element))
        bind(scope, element.name, item === undefined ? UNKNOWN : evaluate(scope, item), item);
    });
  }
}

/** By staging method of a plan: the position of the model among the arguments. */
export const STAGING: ReadonlyMap<string, number> = new Map([
  ['add', 0],
  ['update', 0],
  ['expect', 0],
  ['getOrAdd', 1],
]);

/** The items of `[a, b]` and of `Promise.all([a, b])`. */
export function itemsOf(given: ts.Expression): readonly ts.Expression[] {
  const node = withoutWrapping(given);
  if (ts.isArrayLiteralExpression(node)) return node.elements;
  const isAll = ts.isCallExpression(node) && node.expression.getText() === 'Promise.all';
  const [list] = isAll ? node.arguments : [];
  return list !== undefined && ts.isArrayLiteralExpression(list) ? list.elements : [];
}

/** The expression inside of `await`, parentheses and assertions. */
export function withoutWrapping(node: ts.Expression): ts.Expression {
  return ts.isAwaitExpression(node) ||
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node)
    ? withoutWrapping(node.expression)
    : node;
}

function constantOf(scope: Scope, node: ts.Identifier): Value {
  const resolved = resolveName(scope.context, node.getSourceFile(), node.text, 'value');
  const declaration = resolved.kind === 'declared' ? resolved.declaration : undefined;
  if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return UNKNOWN;
  const isConstant = (declaration.parent.flags & ts.NodeFlags.Const) !== 0;
  if (!isConstant || declaration.initializer === undefined || scope.depth >= MOST_CONSTANTS) return UNKNOWN;
  const outer = { ...scope, locals: new Map(), isRepeated: false, depth: scope.depth + 1 };
  return evaluate(outer, declaration.initializer);
}

function memberOf({ kind, origin, ...object }: Value, name: string, node: ts.Node): Value {
  const location = locationOf(node);
  if (kind === 'params') return { origin: { key: `params.${name}`, text: `params.${name}`, location } };
  if (origin === undefined) return UNKNOWN;
  if (name === 'id') return { ...object, origin };
  const { key, text } = origin;
  return { origin: { key: `${key}.${name}`, text: `${text}.${name}`, location } };
}

/** A value on one unknown shard. In repeated code, the unknown value. */
function opaque({ isRepeated }: Scope, node: ts.Node): Value {
  if (isRepeated) return UNKNOWN;
  const text = abbreviate(node.getText());
  const location = locationOf(node);
  return { origin: { key: `${location.file}:${node.getStart()}`, text, location } };
}

/** Reads by their arguments, of which one determines the shard. */
export const READS: ReadonlyMap<string, number> = new Map([
  ['getById', 0],
  ['findById', 0],
  ['getByKey', 1],
  ['findByKey', 1],
]);
const SAME_SHARD: ReadonlySet<string> = new Set(['getValue', 'toString', 'resolveShardIdentifier']);

/** @returns undefined for a call of any other form */
function callOf(
  scope: Scope,
  call: ts.CallExpression,
  { expression: target, name: { text: name } }: ts.PropertyAccessExpression,
): Value | undefined {
  const argument = (index: number): Value => {
    const node = call.arguments[index];
    return node === undefined ? UNKNOWN : evaluate(scope, node);
  };
  if (target.kind === ts.SyntaxKind.ThisKeyword) return name === 'plan' ? { kind: 'plan' } : undefined;
  const repository = repositoryOf(scope, target);
  if (repository !== undefined) {
    const place = READS.get(name);
    const origin = place === undefined ? undefined : argument(place).origin;
    return { ...(origin === undefined ? opaque(scope, call) : { origin }), model: repository };
  }
  if (ts.isIdentifier(target) && !scope.locals.has(target.text))
    return staticCall(scope, call, { target, name, argument });
  const object = evaluate(scope, target);
  if (object.kind === 'plan') return argument(name === 'getOrAdd' ? 1 : 0);
  if (object.kind === 'builder') {
    if (name === 'id' || name === 'copyBase') return { ...object, ...argument(0), kind: 'builder' };
    const { kind: _, ...built } = object;
    return name === 'build' ? built : object;
  }
  if (SAME_SHARD.has(name)) return object;
  const model = object.model === undefined ? undefined : scope.index.models.get(object.model);
  const method = model && methodOf(classIn(scope, model.file, model.name), name, false);
  // A method that takes no id returns a copy of its model.
  return method !== undefined && placeOf(method) < 0 ? object : undefined;
}

interface StaticCall {
  readonly target: ts.Identifier;
  readonly name: string;
  readonly argument: (index: number) => Value;
}

/** A call on a class of this package, on a builder or on a class of the project. */
function staticCall(
  scope: Scope,
  call: ts.CallExpression,
  { target, name, argument }: StaticCall,
): Value | undefined {
  const resolved = resolveName(scope.context, call.getSourceFile(), target.text);
  const [first, second] = call.arguments;
  if (resolved.kind === 'framework') {
    const isId = resolved.name === 'ShardedId' || resolved.name === 'Id';
    if (isId && second !== undefined)
      return { ...opaque(scope, second), ...argument(1), model: first?.getText() ?? '' };
    const shard = `(${first?.getText()}, ${second?.getText()})`;
    if (resolved.name !== 'ShardIdentifier' || !/^\(\d+, \d+\)$/.test(shard)) return undefined;
    const location = locationOf(call);
    return { origin: { key: shard, text: `shard ${shard}`, location, constant: shard } };
  }
  if (resolved.kind === 'generated') {
    const model = scope.index.models.get(resolved.name.replace(/Builder$/, ''));
    if (model === undefined) return undefined;
    if (name === modelNames(model).variable) return { kind: 'builder', model: model.name };
    return name === 'copyOf' ? { ...argument(0), kind: 'builder', model: model.name } : undefined;
  }
  if (resolved.kind !== 'declared' || !ts.isClassDeclaration(resolved.declaration)) return undefined;
  const method = methodOf(resolved.declaration, name, true);
  const place = method === undefined ? -1 : placeOf(method);
  const { origin } = place < 0 ? UNKNOWN : argument(place);
  return { ...(origin === undefined ? opaque(scope, call) : { origin }), model: target.text };
}

/** Position of the first parameter that is a shard, an id or a model; -1 without one. */
function placeOf({ parameters }: ts.MethodDeclaration): number {
  return parameters.findIndex(({ type }) => /^(ShardIdentifier|ShardedId|Id)\b/.test(type?.getText() ?? ''));
}

function classIn({ context }: Scope, file: string, name: string): ts.ClassDeclaration | undefined {
  const source = context.sources.load(file);
  return source && classNamed(source, name);
}

function methodOf(
  node: ts.ClassDeclaration | undefined,
  name: string,
  isStatic: boolean,
): ts.MethodDeclaration | undefined {
  return node?.members.find(
    (member): member is ts.MethodDeclaration =>
      ts.isMethodDeclaration(member) &&
      member.name.getText() === name &&
      isInstanceMember(member) !== isStatic,
  );
}

function repositoryOf({ repositories }: Scope, target: ts.Expression): string | undefined {
  const isField =
    ts.isPropertyAccessExpression(target) && target.expression.kind === ts.SyntaxKind.ThisKeyword;
  return isField ? repositories.get(target.name.text) : undefined;
}

/** Returns the properties of an action class that contain a repository, with the repository's model. */
export function repositoriesOf(
  context: ReadContext,
  index: ProjectIndex,
  node: ts.ClassDeclaration,
): ReadonlyMap<string, string> {
  const properties = node.members.filter((member) => ts.isPropertyDeclaration(member));
  const found = new Map<string, string>();
  for (const { name, type } of [...properties, ...parameterProperties(node)]) {
    if (type === undefined || !ts.isTypeReferenceNode(type)) continue;
    const resolved = resolveName(context, node.getSourceFile(), type.typeName.getText());
    const model =
      resolved.kind === 'generated'
        ? index.modelsByRepository.get(resolved.name)?.name
        : resolved.kind === 'declared' && ts.isClassDeclaration(resolved.declaration)
          ? index.repositories.get(`${fileOf(resolved.declaration)}#${resolved.declaration.name?.text ?? ''}`)
              ?.model.name
          : undefined;
    if (model !== undefined) found.set(name.getText(), model);
  }
  return found;
}
