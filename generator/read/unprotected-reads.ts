import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { ts } from './compiler.js';
import { type Perform, readOf, type Variable, variableOf, withoutWrapping } from './shards/perform.js';
import { locationOf } from './source-files.js';

/** Marks a read in the comment of its statement: its model may change until the commit. */
const MARK = /@unprotected\b/;

/**
 * Warns where a field of a model that was only read flows into a staged model, because a change between the read and
 * the commit is lost. For example, 40 units are billed although another action has counted 68 meanwhile:
 *
 *     const usage = await this.#usages.getById(params.usageId);
 *     this.plan().update(invoice.withUnits(usage.units)); // without this.plan().expect(usage)
 */
export function unprotectedReads(perform: Perform): readonly Diagnostic[] {
  const plan = perform.uses.filter((use) => use.of === 'plan');
  // Other code that receives the plan may expect any model.
  return plan.some(({ method }) => method === undefined) ? [] : warningsOf(perform);
}

/** Whether a variable is a model that was read, without a mark in the comment of its statement. */
function isOnlyRead(perform: Perform, { value, declaration }: Variable): boolean {
  if (value === 'params' || declaration === undefined || readOf(perform, value) === undefined) return false;
  const statement = declaration.parent.parent;
  const lead = declaration.getFullStart() - statement.getFullStart();
  return !MARK.test(statement.getFullText().slice(0, lead));
}

function warningsOf(perform: Perform): readonly Diagnostic[] {
  const models = perform.uses.flatMap(({ model, method }) =>
    model === undefined ? [] : [{ model, method }],
  );
  const known = new Set(models.flatMap(({ model }) => basesOf(perform, model)));
  const used = new Map<string, ts.Identifier>();
  const search = (node: ts.Node, passed: ReadonlySet<string>): void => {
    if (ts.isIdentifier(node) && isValue(node)) {
      const { text: name, parent } = node;
      const from = derivation(perform, node);
      if (from !== undefined && !passed.has(name)) search(from, new Set([...passed, name]));
      const isField = ts.isPropertyAccessExpression(parent) && parent.name.text !== 'id';
      const variable = isField && !known.has(name) && !used.has(name) && variableOf(perform, node);
      if (variable && isOnlyRead(perform, variable)) used.set(name, node);
    }
    ts.forEachChild(node, (child) => search(child, passed));
  };
  for (const { model, method } of models) if (method !== 'expect') search(model, new Set());
  return [...used].map(([name, node]) => {
    const message = `${name} was only read, and may change before the model that depends on it is stored`;
    const hint = `Write \`this.plan().expect(${name});\`, or \`/** @unprotected why */\` above its statement if an older state is good enough.`;
    return diagnostic('FWGEN069', locationOf(node), message, hint);
  });
}

/** What a variable has its value from; undefined for a model that is read. */
function derivation(perform: Perform, node: ts.Identifier): ts.Expression | undefined {
  const value = variableOf(perform, node)?.value;
  return value === undefined || value === 'params' || readOf(perform, value) !== undefined
    ? undefined
    : value;
}

/** Whether a name is a variable, not a member or a key. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
  return !isMember && !(ts.isPropertyAssignment(parent) && parent.name === node);
}

/**
 * The variables whose copies may be staged: `wallet` of `wallet.deposit(amount)` and of `builder.copyOf(wallet).build()`;
 * both of `isPaid ? order.paid() : order.refunded()`.
 */
function basesOf(perform: Perform, given: ts.Expression, depth = 0): readonly string[] {
  const node = withoutWrapping(given);
  if (ts.isConditionalExpression(node))
    return [node.whenTrue, node.whenFalse].flatMap((each) => basesOf(perform, each, depth));
  if (ts.isIdentifier(node)) {
    const from = derivation(perform, node);
    return from === undefined || depth > 8 ? [node.text] : basesOf(perform, from, depth + 1);
  }
  if (ts.isPropertyAccessExpression(node)) return basesOf(perform, node.expression, depth);
  if (!ts.isCallExpression(node)) return [];
  const [first] = node.arguments;
  const isCopy =
    ts.isPropertyAccessExpression(node.expression) && /^copy(Of|Base)$/.test(node.expression.name.text);
  return basesOf(perform, isCopy && first !== undefined ? first : node.expression, depth);
}
