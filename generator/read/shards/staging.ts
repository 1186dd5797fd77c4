import type { SourceLocation } from '../../schema/location.js';
import { ts } from '../compiler.js';
import { locationOf } from '../source-files.js';
import { parameterProperties } from '../syntax.js';
import { bind, bindAll, evaluate, isSagaStart, reassignedNames } from './evaluate.js';
import { type Origin, originOf, UNKNOWN } from './origin.js';
import type { Scope } from './scope.js';

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
  readonly staged: readonly Staged[];
  /**
   * Code that is not analysed and receives the plan or the action, so that it could stage; undefined if there is none.
   */
  readonly escapes: ts.Node | undefined;
}

/** By method: the position of the model among the arguments. */
const STAGING: ReadonlyMap<string, number> = new Map([
  ['add', 0],
  ['update', 0],
  ['expect', 0],
  ['getOrAdd', 1],
]);
/** Methods of a plan that stage no model. */
const SCHEDULING: ReadonlySet<string> = new Set(['schedule', 'cancelSchedule']);

interface Walk {
  readonly staged: Staged[];
  readonly owner: ts.ClassDeclaration;
  escapes: ts.Node | undefined;
}

/** Walks through `perform` in source order. */
export function findStaged(scope: Scope, perform: ts.MethodDeclaration, owner: ts.ClassDeclaration): Staging {
  const walk: Walk = { staged: [], owner, escapes: undefined };
  const { body } = perform;
  if (body === undefined) return walk;
  const inner: Scope = { ...scope, reassigned: reassignedNames(body) };
  const [, params] = perform.parameters;
  if (params !== undefined)
    bind(inner, params.name, {
      kind: 'params',
      path: params.name.getText().startsWith('{') ? 'params' : params.name.getText(),
    });
  visitAll(walk, inner, body.statements, false);
  return walk;
}

function visitAll(walk: Walk, scope: Scope, nodes: readonly ts.Node[], isConditional: boolean): void {
  for (const node of nodes) {
    visit(walk, scope, node, isConditional);
    // Code after this statement is unreachable.
    if (ts.isReturnStatement(node) || ts.isThrowStatement(node)) return;
  }
}

function visit(walk: Walk, scope: Scope, node: ts.Node, isConditional: boolean): void {
  if (ts.isVariableDeclarationList(node)) {
    for (const { initializer } of node.declarations) {
      if (initializer !== undefined && !isPlanCall(initializer))
        visit(walk, scope, initializer, isConditional);
    }
    bindAll(scope, node);
    return;
  }
  if (ts.isFunctionLike(node)) visitFunction(walk, scope, node);
  else if (ts.isIterationStatement(node, false)) visitLoop(walk, scope, node);
  else if (ts.isBlock(node)) {
    const inner: Scope = { ...scope, variables: new Map(scope.variables) };
    visitAll(walk, inner, node.statements, isConditional);
  } else if (!(ts.isCallExpression(node) && visitCall(walk, scope, node, isConditional))) {
    visitChildren(walk, scope, node, isConditional);
  }
}

function visitChildren(walk: Walk, scope: Scope, node: ts.Node, isConditional: boolean): void {
  noteEscape(walk, scope, node);
  const branches = isBranching(node) || isConditional;
  ts.forEachChild(node, (child) => visit(walk, scope, child, branches));
}

/** Visits a function, which may run any number of times. Its declarations have another value each time. */
function visitFunction(walk: Walk, scope: Scope, node: ts.SignatureDeclaration): void {
  const inner: Scope = { ...scope, variables: new Map(scope.variables), isRepeated: true };
  for (const { name } of node.parameters) bind(inner, name, UNKNOWN);
  if ('body' in node && node.body !== undefined) visit(walk, inner, node.body, true);
}

function visitLoop(walk: Walk, scope: Scope, node: ts.IterationStatement): void {
  const inner: Scope = { ...scope, variables: new Map(scope.variables), isRepeated: true };
  if (ts.isForOfStatement(node) || ts.isForInStatement(node)) {
    visit(walk, scope, node.expression, true);
    if (ts.isVariableDeclarationList(node.initializer)) {
      for (const { name } of node.initializer.declarations) bind(inner, name, UNKNOWN);
    }
    visit(walk, inner, node.statement, true);
    return;
  }
  ts.forEachChild(node, (child) => visit(walk, inner, child, true));
}

/**
 * Handles `this.plan().add(model)`, or the same call on a variable that holds the plan. `getOrAdd` stages a model that
 * does not exist yet.
 *
 * @returns false for any other call
 */
function visitCall(walk: Walk, scope: Scope, node: ts.CallExpression, isConditional: boolean): boolean {
  if (!ts.isPropertyAccessExpression(node.expression)) return false;
  const { expression: target, name } = node.expression;
  const stage = (expression: ts.Expression | undefined, origin: Origin | undefined): void => {
    if (expression === undefined) return;
    walk.staged.push({
      text: (expression.getText().split('\n', 1)[0] ?? '').slice(0, 60),
      origin,
      location: locationOf(node),
      isRepeated: scope.isRepeated,
      isConditional: isConditional || scope.isRepeated || name.text === 'getOrAdd',
    });
  };
  if (isSagaStart(scope, node)) {
    const [plan, state] = node.arguments;
    for (const argument of node.arguments) if (argument !== plan) visit(walk, scope, argument, isConditional);
    stage(state, state && shardOf(scope, state));
    return true;
  }
  const position = STAGING.get(name.text);
  if (position === undefined && !SCHEDULING.has(name.text)) return false;
  if (evaluate(scope, target).kind !== 'plan') return false;
  for (const argument of node.arguments) visit(walk, scope, argument, isConditional);
  const [first] = node.arguments;
  if (name.text === 'cancelSchedule') stage(first, first && holderOf(scope, first));
  // The scheduled action takes the shard of the plan, unless its id is used before anything is staged.
  else if (name.text === 'schedule') {
    const isSettled = walk.staged.some((each) => !each.isConditional);
    if (!isSettled && !ts.isExpressionStatement(node.parent)) stage(node, undefined);
  } else {
    const model = position === undefined ? undefined : node.arguments[position];
    stage(model, model && shardOf(scope, model));
  }
  return true;
}

/**
 * Returns the origin of a scheduled action's id. It is the shard of the model that holds the id, because one plan has
 * stored both.
 */
function holderOf(scope: Scope, id: ts.Expression): Origin | undefined {
  const holder = ts.isPropertyAccessExpression(id) ? evaluate(scope, id.expression) : undefined;
  const isModel = holder?.kind === 'located' && holder.model !== undefined;
  return isModel ? originOf(holder) : originOf(evaluate(scope, id));
}

/** Returns the origin of a model. A model with ids without a shard is on the default shard, whatever its value. */
function shardOf(scope: Scope, node: ts.Expression): Origin | undefined {
  const value = evaluate(scope, node);
  const origin = originOf(value);
  const model =
    value.kind === 'located' && value.model !== undefined ? scope.models.get(value.model) : undefined;
  if (origin === undefined || model === undefined || model.sharded) return origin;
  return { key: 'default shard', text: 'the default shard', location: origin.location };
}

function noteEscape(walk: Walk, scope: Scope, node: ts.Node): void {
  if (node.kind === ts.SyntaxKind.ThisKeyword && !isHarmlessThis(walk, node)) walk.escapes ??= node.parent;
  if (ts.isIdentifier(node) && scope.variables.get(node.text)?.kind === 'plan') walk.escapes ??= node.parent;
  if (isPlanCall(node) && !ts.isPropertyAccessExpression(node.parent)) walk.escapes ??= node.parent;
}

/**
 * Whether a use of `this` cannot stage: it reads a property, or calls a method that uses neither the plan nor `this`.
 */
function isHarmlessThis(walk: Walk, node: ts.Node): boolean {
  const access = node.parent;
  if (!ts.isPropertyAccessExpression(access) || access.expression !== node) return false;
  if (isPlanCall(access.parent)) return true;
  const name = access.name.text;
  const fields = parameterProperties(walk.owner).map((each) => each.name.getText());
  if (name === 'clock' || fields.includes(name)) return true;
  const member = walk.owner.members.find((each) => each.name?.getText() === name);
  if (member === undefined) return false;
  return ts.isPropertyDeclaration(member) || !mayStage(member, fields);
}

/** Whether a method refers to the plan or hands the action on. @param fields names that it may read */
function mayStage(method: ts.ClassElement, fields: readonly string[]): boolean {
  const read = [...method.getText().matchAll(/\bthis\b(?:\.(#?[\p{ID_Continue}$]+))?/gu)];
  const isRead = (name = ''): boolean => name.startsWith('#') || name === 'clock' || fields.includes(name);
  return /\bplan\b/.test(method.getText()) || read.some(([, name]) => !isRead(name));
}

function isPlanCall(node: ts.Node): boolean {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.expression.kind === ts.SyntaxKind.ThisKeyword &&
    node.expression.name.text === 'plan'
  );
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
