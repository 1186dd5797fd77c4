import { modelNames } from '../../schema/model-names.js';
import { ts } from '../compiler.js';
import { type Resolved, resolveName } from '../resolver.js';
import { fileOf, locationOf } from '../source-files.js';
import { hasKeyword, isInstanceMember } from '../syntax.js';
import { originOf, UNKNOWN, type Value } from './origin.js';
import { opaque, type Scope } from './scope.js';

/** Maximum depth of calls that are followed. */
const MAXIMUM_DEPTH = 6;

/** Returns the value of an expression, as far as the source determines it. */
export function evaluate(scope: Scope, node: ts.Expression): Value {
  if (
    ts.isAwaitExpression(node) ||
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node) ||
    ts.isNonNullExpression(node)
  ) {
    return evaluate(scope, node.expression);
  }
  if (node.kind === ts.SyntaxKind.ThisKeyword) return scope.self;
  if (ts.isIdentifier(node)) return evaluateName(scope, node);
  if (ts.isPropertyAccessExpression(node)) return evaluateProperty(scope, node);
  if (ts.isCallExpression(node)) return evaluateCall(scope, node);
  if (ts.isArrayLiteralExpression(node)) {
    return { kind: 'tuple', items: node.elements.map((element) => evaluate(scope, element)) };
  }
  if (ts.isConditionalExpression(node)) {
    const first = evaluate(scope, node.whenTrue);
    const second = evaluate(scope, node.whenFalse);
    return originOf(first) !== undefined && originOf(first)?.key === originOf(second)?.key
      ? first
      : opaque(scope, node);
  }
  return UNKNOWN;
}

/** Binds the names of a declaration to the value of its initializer. */
export function bind(scope: Scope, name: ts.BindingName, value: Value): void {
  if (ts.isIdentifier(name)) {
    const known = value.kind === 'unknown' ? opaque(scope, name) : value;
    scope.variables.set(name.text, scope.reassigned.has(name.text) ? UNKNOWN : known);
    return;
  }
  if (ts.isArrayBindingPattern(name)) {
    name.elements.forEach((element, index) => {
      if (!ts.isBindingElement(element)) return;
      bind(scope, element.name, value.kind === 'tuple' ? (value.items[index] ?? UNKNOWN) : UNKNOWN);
    });
    return;
  }
  for (const element of name.elements) {
    const key = element.propertyName ?? element.name;
    const property = ts.isIdentifier(key) && element.dotDotDotToken === undefined ? key.text : undefined;
    const hasDefault = element.initializer !== undefined;
    bind(
      scope,
      element.name,
      property === undefined || hasDefault ? UNKNOWN : memberOf(scope, value, property, key),
    );
  }
}

function evaluateName(scope: Scope, node: ts.Identifier): Value {
  const local = scope.variables.get(node.text);
  if (local !== undefined) return local;
  const resolved = resolveName(scope.context, node.getSourceFile(), node.text, 'value');
  const declaration = resolved.kind === 'declared' ? resolved.declaration : undefined;
  if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return UNKNOWN;
  const isConstant = (declaration.parent.flags & ts.NodeFlags.Const) !== 0;
  if (!isConstant || declaration.initializer === undefined || scope.depth >= MAXIMUM_DEPTH) return UNKNOWN;
  // A constant of a module has the same value in every scope.
  const outer: Scope = {
    ...scope,
    variables: new Map(),
    path: '',
    isRepeated: false,
    self: UNKNOWN,
    depth: scope.depth + 1,
  };
  const value = evaluate(outer, declaration.initializer);
  return value.kind === 'unknown' ? opaque(outer, declaration.name, node.text) : value;
}

function evaluateProperty(scope: Scope, node: ts.PropertyAccessExpression): Value {
  return memberOf(scope, evaluate(scope, node.expression), node.name.text, node);
}

function memberOf(scope: Scope, object: Value, name: string, node: ts.Node): Value {
  switch (object.kind) {
    case 'params': {
      const text = `${object.path}.${name}`;
      return { kind: 'located', origin: { key: text, text, location: locationOf(node) } };
    }
    case 'this': {
      const model = scope.repositories.get(name);
      return model === undefined ? UNKNOWN : { kind: 'repository', model };
    }
    case 'located': {
      if (name === 'id') return object;
      const { key, text } = object.origin;
      return {
        kind: 'located',
        origin: { key: `${key}.${name}`, text: `${text}.${name}`, location: locationOf(node) },
      };
    }
    default:
      return UNKNOWN;
  }
}

/** Whether a call is `TransferSaga.start(plan, state)`. */
export function isSagaStart(scope: Scope, { expression }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'start') return false;
  const { expression: target } = expression;
  if (!ts.isIdentifier(target) || scope.variables.has(target.text)) return false;
  const resolved = resolveName(scope.context, expression.getSourceFile(), target.text);
  const declaration = resolved.kind === 'declared' ? resolved.declaration : undefined;
  if (declaration === undefined || !ts.isClassDeclaration(declaration)) return false;
  const file = fileOf(declaration);
  return scope.sagas.some((saga) => saga.file === file && saga.className === declaration.name?.text);
}

function evaluateCall(scope: Scope, node: ts.CallExpression): Value {
  if (!ts.isPropertyAccessExpression(node.expression)) return opaque(scope, node);
  if (isSagaStart(scope, node)) {
    const [, state] = node.arguments;
    return state === undefined ? UNKNOWN : evaluate(scope, state);
  }
  const { expression: target, name } = node.expression;
  if (ts.isIdentifier(target) && !scope.variables.has(target.text)) {
    const known = evaluateStatic(scope, node, target, name.text);
    if (known !== undefined) return known;
  }
  const object = evaluate(scope, target);
  // The argument that decides the shard: the id, the model, or the shard behind a key.
  const decisive = node.arguments[SECOND_DECIDES.has(name.text) ? 1 : 0];
  const argument = decisive === undefined ? UNKNOWN : evaluate(scope, decisive);
  switch (object.kind) {
    case 'this':
      return name.text === 'plan' ? { kind: 'plan' } : opaque(scope, node);
    case 'plan':
      return argument;
    case 'repository':
      return readThrough(scope, node, object.model, name.text, argument);
    case 'builder':
      return buildStep(object, name.text, argument) ?? opaque(scope, node);
    case 'located':
      return callOnLocated(scope, node, object, name.text);
    default:
      return opaque(scope, node);
  }
}

const SECOND_DECIDES: ReadonlySet<string> = new Set(['getOrAdd', 'getByKey', 'findByKey']);
const READS: ReadonlySet<string> = new Set(['getById', 'findById', 'getByKey', 'findByKey']);

/** `getById` reads a model on the shard of its id, `getByKey` on the shard in its argument. */
function readThrough(scope: Scope, node: ts.Node, model: string, method: string, place: Value): Value {
  const origin = READS.has(method) ? originOf(place) : undefined;
  if (origin !== undefined) return { kind: 'located', origin, model };
  const found = opaque(scope, node);
  return found.kind === 'located' ? { ...found, model } : found;
}

function buildStep(
  builder: Extract<Value, { kind: 'builder' }>,
  method: string,
  argument: Value,
): Value | undefined {
  if (method === 'build') {
    return builder.origin === undefined
      ? undefined
      : { kind: 'located', origin: builder.origin, model: builder.model };
  }
  if (method !== 'id' && method !== 'copyBase') return builder;
  const origin = originOf(argument);
  return origin === undefined ? undefined : { ...builder, origin };
}

function callOnLocated(
  scope: Scope,
  node: ts.CallExpression,
  object: Extract<Value, { kind: 'located' }>,
  method: string,
): Value {
  if (['getValue', 'toString', 'resolveShardIdentifier'].includes(method)) return object;
  const model = object.model === undefined ? undefined : scope.models.get(object.model);
  const source = model === undefined ? undefined : scope.context.sources.load(model.file);
  const declaration = source?.statements.find(
    (each): each is ts.ClassDeclaration => ts.isClassDeclaration(each) && each.name?.text === model?.name,
  );
  const found = declaration === undefined ? undefined : methodOf(declaration, method, false);
  const given = found === undefined ? UNKNOWN : evaluateBody(scope, node, found, object);
  return given.kind === 'unknown' ? opaque(scope, node) : given;
}

/** Evaluates a call on an imported or local class or namespace. */
function evaluateStatic(
  scope: Scope,
  node: ts.CallExpression,
  target: ts.Identifier,
  method: string,
): Value | undefined {
  const resolved = resolveName(scope.context, node.getSourceFile(), target.text);
  if (resolved.kind === 'framework') return frameworkCall(scope, node, `${resolved.name}.${method}`);
  if (resolved.kind === 'generated') return builderCall(scope, node, resolved, method);
  if (resolved.kind === 'global' && target.text === 'Promise' && method === 'all') {
    const [list] = node.arguments;
    return list === undefined ? UNKNOWN : evaluate(scope, list);
  }
  if (resolved.kind !== 'declared' || !ts.isClassDeclaration(resolved.declaration)) return undefined;
  const declared = methodOf(resolved.declaration, method, true);
  const given = declared === undefined ? UNKNOWN : evaluateBody(scope, node, declared, UNKNOWN);
  return given.kind === 'unknown' ? opaque(scope, node) : given;
}

function frameworkCall(scope: Scope, node: ts.CallExpression, name: string): Value | undefined {
  const [first, second] = node.arguments;
  if (name === 'ShardedId.generate' && first !== undefined && second !== undefined) {
    const shard = evaluate(scope, second);
    const origin = originOf(shard) ?? originOf(opaque(scope, second));
    return origin === undefined ? UNKNOWN : { kind: 'located', origin, model: first.getText() };
  }
  if ((name === 'ShardedId.of' || name === 'Id.of') && second !== undefined) {
    const value = evaluate(scope, second);
    return originOf(value) === undefined ? opaque(scope, node) : value;
  }
  if (name === 'ShardIdentifier.of' && first !== undefined && second !== undefined) {
    if (!ts.isNumericLiteral(first) || !ts.isNumericLiteral(second)) return opaque(scope, node);
    const constant = `(${Number(first.text)}, ${Number(second.text)})`;
    const origin = { key: constant, text: `shard ${constant}`, location: locationOf(node), constant };
    return { kind: 'located', origin };
  }
  return undefined;
}

function builderCall(
  scope: Scope,
  node: ts.CallExpression,
  resolved: Extract<Resolved, { kind: 'generated' }>,
  method: string,
): Value | undefined {
  if (!resolved.name.endsWith('Builder')) return undefined;
  const model = scope.models.get(resolved.name.slice(0, -'Builder'.length));
  if (model === undefined) return undefined;
  if (method === modelNames(model).variable) return { kind: 'builder', model: model.name };
  const [source] = node.arguments;
  const origin = method === 'copyOf' && source !== undefined ? originOf(evaluate(scope, source)) : undefined;
  return origin === undefined ? undefined : { kind: 'builder', model: model.name, origin };
}

function methodOf(
  node: ts.ClassDeclaration,
  name: string,
  isStatic: boolean,
): ts.MethodDeclaration | undefined {
  return node.members
    .filter((member) => ts.isMethodDeclaration(member))
    .find(
      (member) =>
        ts.isIdentifier(member.name) &&
        member.name.text === name &&
        member.body !== undefined &&
        isInstanceMember(member) !== isStatic &&
        !hasKeyword(member, ts.SyntaxKind.AsyncKeyword),
    );
}

/** Evaluates a method that consists of one `return`, with arguments in place of parameters. */
function evaluateBody(
  scope: Scope,
  call: ts.CallExpression,
  method: ts.MethodDeclaration,
  self: Value,
): Value {
  const { body } = method;
  if (body === undefined || scope.depth >= MAXIMUM_DEPTH) return UNKNOWN;
  const inner: Scope = {
    ...scope,
    variables: new Map(),
    reassigned: reassignedNames(body),
    path: `${scope.path}${fileOf(call)}:${call.getStart()}>`,
    repositories: new Map(),
    self,
    depth: scope.depth + 1,
  };
  method.parameters.forEach((parameter, index) => {
    const given = call.arguments[index];
    const value =
      given === undefined || parameter.initializer !== undefined ? UNKNOWN : evaluate(scope, given);
    const named = value.kind === 'unknown' && given !== undefined ? opaque(scope, given) : value;
    bind(inner, parameter.name, named);
  });
  const results: Value[] = [];
  for (const statement of body.statements) {
    if (ts.isVariableStatement(statement)) bindAll(inner, statement.declarationList);
    else if (ts.isReturnStatement(statement)) {
      results.push(statement.expression === undefined ? UNKNOWN : evaluate(inner, statement.expression));
    } else if (containsReturn(statement)) return UNKNOWN;
  }
  return results[0] ?? UNKNOWN;
}

/** Binds every variable of a declaration list. */
export function bindAll(scope: Scope, list: ts.VariableDeclarationList): void {
  for (const { name, initializer } of list.declarations) {
    bind(scope, name, initializer === undefined ? UNKNOWN : evaluate(scope, initializer));
  }
}

/** Returns the names that are reassigned below a node. */
export function reassignedNames(node: ts.Node): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (each: ts.Node): void => {
    const target =
      ts.isBinaryExpression(each) && isAssignment(each.operatorToken.kind)
        ? each.left
        : ts.isPrefixUnaryExpression(each) || ts.isPostfixUnaryExpression(each)
          ? each.operand
          : undefined;
    if (target !== undefined)
      for (const [name] of target.getText().matchAll(/[\p{ID_Start}_$][\p{ID_Continue}$]*/gu))
        names.add(name);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return names;
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function containsReturn(node: ts.Node): boolean {
  if (ts.isReturnStatement(node)) return true;
  if (ts.isFunctionLike(node)) return false;
  return ts.forEachChild(node, (child) => containsReturn(child) || undefined) ?? false;
}
