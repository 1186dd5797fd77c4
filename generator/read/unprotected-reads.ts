import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { projectIndex } from '../schema/project-index.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import { performOf } from './perform-method.js';
import type { ReadContext } from './read-context.js';
import { itemsOf, READS, repositoriesOf, STAGING, withoutWrapping } from './shards/origin.js';
import { locationOf } from './source-files.js';

/** Marks a read in the comment of its statement: its model may change until the commit. */
const MARK = /@unprotected\b/;

/** What `perform` reads, derives, stages and expects. */
interface Flow {
  /** Names of models that are read one by one. */
  readonly reads: Set<string>;
  /** Other variables, by name. */
  readonly derived: Map<string, ts.Expression>;
  /** Models as they are passed to the plan. */
  readonly staged: ts.Expression[];
  readonly expected: ts.Expression[];
  /** Other code receives the plan, and may expect any model. */
  hasEscaped: boolean;
}

/**
 * Warns where a field of a model that was only read flows into a staged model, because a change between the read and
 * the commit is lost. For example, 40 units are billed although another action has counted 68 meanwhile:
 *
 *     const usage = await this.#usages.getById(params.usageId);
 *     this.plan().update(invoice.withUnits(usage.units)); // without this.plan().expect(usage)
 */
export function unprotectedReads(context: ReadContext, schema: ProjectSchema): readonly Diagnostic[] {
  const index = projectIndex(schema);
  return schema.actions.flatMap((action) => {
    const { node, perform } = (action.stagingCalls > 0 && performOf(context, action)) || {};
    if (node === undefined || perform?.body === undefined) return [];
    const repositories = repositoriesOf(context, index, node);
    const flow: Flow = { reads: new Set(), derived: new Map(), staged: [], expected: [], hasEscaped: false };
    collect(flow, repositories, perform.body);
    return flow.hasEscaped ? [] : warningsOf(flow);
  });
}

function collect(flow: Flow, repositories: ReadonlyMap<string, string>, node: ts.Node): void {
  if (ts.isVariableDeclaration(node) && node.initializer !== undefined) {
    const isMarked = MARK.test(
      node.parent.parent.getFullText().slice(0, node.getFullStart() - node.parent.parent.getFullStart()),
    );
    for (const [name, value] of boundBy(node.name, node.initializer)) {
      if (!isRead(value, repositories)) flow.derived.set(name, value);
      else if (!isMarked) flow.reads.add(name);
    }
  }
  if (ts.isCallExpression(node) && /^this\s*\.\s*plan$/.test(node.expression.getText())) stage(flow, node);
  ts.forEachChild(node, (child) => collect(flow, repositories, child));
}

/** The names of a declaration, each with the expression that it comes from. */
function boundBy(name: ts.BindingName, value: ts.Expression): readonly (readonly [string, ts.Expression])[] {
  if (ts.isIdentifier(name)) return [[name.text, value]];
  const items = ts.isArrayBindingPattern(name) ? itemsOf(value) : [];
  return name.elements.flatMap((element, place) =>
    ts.isOmittedExpression(element) ? [] : boundBy(element.name, items[place] ?? value),
  );
}

function isRead(value: ts.Expression, repositories: ReadonlyMap<string, string>): boolean {
  const call = withoutWrapping(value);
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return false;
  const { name, expression: target } = call.expression;
  return READS.has(name.text) && ts.isPropertyAccessExpression(target) && repositories.has(target.name.text);
}

function stage(flow: Flow, plan: ts.CallExpression): void {
  const method = plan.parent;
  const call = method.parent;
  if (!ts.isPropertyAccessExpression(method) || !ts.isCallExpression(call)) {
    flow.hasEscaped = true;
    return;
  }
  const model = call.arguments[STAGING.get(method.name.text) ?? -1];
  if (model !== undefined) (method.name.text === 'expect' ? flow.expected : flow.staged).push(model);
}

function warningsOf({ reads, derived, staged, expected }: Flow): readonly Diagnostic[] {
  const known = new Set([...staged, ...expected].map((model) => baseOf(model, derived)));
  const used = new Map<string, ts.Identifier>();
  const search = (node: ts.Node, passed: ReadonlySet<string>): void => {
    if (ts.isIdentifier(node) && isValue(node)) {
      const from = derived.get(node.text);
      if (from !== undefined && !passed.has(node.text)) search(from, new Set([...passed, node.text]));
      const isField = ts.isPropertyAccessExpression(node.parent) && node.parent.name.text !== 'id';
      if (isField && reads.has(node.text) && !known.has(node.text) && !used.has(node.text))
        used.set(node.text, node);
    }
    ts.forEachChild(node, (child) => search(child, passed));
  };
  for (const model of staged) search(model, new Set());
  return [...used].map(([name, node]) => {
    const message = `${name} was only read, and may change before the model that depends on it is stored`;
    const hint = `Write \`this.plan().expect(${name});\`, or \`/** @unprotected why */\` above its statement if an older state is good enough.`;
    return diagnostic('FWGEN069', locationOf(node), message, hint);
  });
}

/** Whether a name is a variable, not a member or a key. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
  return !isMember && !(ts.isPropertyAssignment(parent) && parent.name === node);
}

/** The variable whose copy is staged: `wallet` of `wallet.deposit(amount)` and of `builder.copyOf(wallet).build()`. */
function baseOf(
  given: ts.Expression,
  derived: ReadonlyMap<string, ts.Expression>,
  depth = 0,
): string | undefined {
  const node = withoutWrapping(given);
  if (ts.isIdentifier(node)) {
    const from = derived.get(node.text);
    return from === undefined || depth > 8 ? node.text : baseOf(from, derived, depth + 1);
  }
  if (ts.isPropertyAccessExpression(node)) return baseOf(node.expression, derived, depth);
  if (!ts.isCallExpression(node)) return undefined;
  const [first] = node.arguments;
  const isCopy =
    ts.isPropertyAccessExpression(node.expression) && /^copy(Of|Base)$/.test(node.expression.name.text);
  return baseOf(isCopy && first !== undefined ? first : node.expression, derived, depth);
}
