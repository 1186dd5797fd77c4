import type { SourceLocation } from '../../schema/location.js';
import { ts } from '../compiler.js';
import { abbreviate } from '../read-literal.js';
import { locationOf } from '../source-files.js';
import { bind, evaluate, type Origin, type Scope, STAGING, type Value } from './origin.js';

/** A model that `perform` stages or expects. */
export interface Staged {
  /** The argument in the source. */
  readonly text: string;
  /** undefined if it is unknown. */
  readonly origin: Origin | undefined;
  /** Location of the call. */
  readonly location: SourceLocation;
  /** It may be staged more than once. */
  readonly isRepeated: boolean;
  /** It may not be staged at all. */
  readonly isConditional: boolean;
}

/** Everything that `perform` stages. */
export interface Staging {
  readonly staged: Staged[];
  /** Code that receives the plan or the action, so that it could stage; undefined if there is none. */
  escapes: ts.Node | undefined;
}

/** Walks through `perform` in source order. */
export function findStaged(scope: Scope, { body, parameters: [, params] }: ts.MethodDeclaration): Staging {
  const staging: Staging = { staged: [], escapes: undefined };
  if (params !== undefined) bind(scope, params.name, { kind: 'params' });
  if (body !== undefined) visit(staging, scope, body, false);
  return staging;
}

function visit(staging: Staging, scope: Scope, node: ts.Node, isConditional: boolean): void {
  const visitChildren = (inner: Scope, branches: boolean): void =>
    ts.forEachChild(node, (child) => visit(staging, inner, child, branches));
  if (ts.isVariableDeclaration(node)) declare(staging, scope, node, isConditional);
  else if (ts.isBlock(node)) {
    const inner = { ...scope, locals: new Map(scope.locals) };
    for (const statement of node.statements) {
      visit(staging, inner, statement, isConditional);
      // Code after this statement is unreachable.
      if (ts.isReturnStatement(statement) || ts.isThrowStatement(statement)) return;
    }
  } else if (ts.isFunctionLike(node) || ts.isIterationStatement(node, false))
    visitChildren({ ...scope, locals: new Map(scope.locals), isRepeated: true }, true);
  else {
    if (ts.isCallExpression(node)) stage(staging, scope, node, isConditional);
    if (isEscape(scope, node)) staging.escapes ??= node.parent;
    visitChildren(scope, isConditional || isBranching(node));
  }
}

function declare(
  staging: Staging,
  scope: Scope,
  { name, initializer, parent }: ts.VariableDeclaration,
  isConditional: boolean,
): void {
  const isConstant = (parent.flags & ts.NodeFlags.Const) !== 0;
  const value: Value = initializer !== undefined && isConstant ? evaluate(scope, initializer) : {};
  if (initializer !== undefined && value.kind !== 'plan') visit(staging, scope, initializer, isConditional);
  bind(scope, name, value, isConstant ? initializer : undefined);
}

/** Notes `this.plan().add(model)`. `getOrAdd` stages a model that does not exist yet. */
function stage(staging: Staging, scope: Scope, node: ts.CallExpression, isConditional: boolean): void {
  if (!ts.isPropertyAccessExpression(node.expression)) return;
  const { expression: target, name } = node.expression;
  const model = node.arguments[STAGING.get(name.text) ?? -1];
  if (model === undefined || evaluate(scope, target).kind !== 'plan') return;
  staging.staged.push({
    text: abbreviate(model.getText()),
    origin: shardOf(scope, evaluate(scope, model)),
    location: locationOf(node),
    isRepeated: scope.isRepeated,
    isConditional: isConditional || name.text === 'getOrAdd',
  });
}

/** A model with ids without a shard is on the default shard, whatever its value. */
function shardOf({ index }: Scope, { origin, model }: Value): Origin | undefined {
  const isPlain = model !== undefined && index.models.get(model)?.sharded === false;
  return origin === undefined || !isPlain
    ? origin
    : { key: 'default shard', text: 'the default shard', location: origin.location };
}

/**
 * Whether a node hands on the plan or the action, or calls a method of either that is not followed. A scheduled action
 * takes the shard of the plan, unless its id is used.
 */
function isEscape(scope: Scope, node: ts.Node): boolean {
  const { parent } = node;
  const isThis = node.kind === ts.SyntaxKind.ThisKeyword;
  if (!isThis && !(ts.isExpression(node) && isPlan(scope, node))) return false;
  if (!ts.isPropertyAccessExpression(parent)) return true;
  if (parent.expression !== node) return false;
  const isCalled = ts.isCallExpression(parent.parent) && parent.parent.expression === parent;
  const { text: name } = parent.name;
  if (isThis) return isCalled && name !== 'plan';
  return !STAGING.has(name) && !(name === 'schedule' && ts.isExpressionStatement(parent.parent.parent));
}

function isPlan(scope: Scope, node: ts.Expression): boolean {
  if (ts.isIdentifier(node)) return scope.locals.get(node.text)?.kind === 'plan';
  return ts.isCallExpression(node) && evaluate(scope, node).kind === 'plan';
}

function isBranching(node: ts.Node): boolean {
  return (
    ts.isIfStatement(node) ||
    ts.isSwitchStatement(node) ||
    ts.isTryStatement(node) ||
    ts.isConditionalExpression(node) ||
    (ts.isBinaryExpression(node) && /^(&&|\|\||\?\?)$/.test(node.operatorToken.getText())) ||
    ts.isOptionalChain(node)
  );
}
