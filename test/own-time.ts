import { ts } from 'ts-morph';

/** Modules with timers or clocks, without the prefix `node:`. */
const MODULES: ReadonlySet<string> = new Set(['timers', 'timers/promises', 'perf_hooks']);
const TIMER = /^(set|clear)(Timeout|Interval|Immediate)$/;
const GLOBAL: ReadonlySet<string> = new Set(['globalThis', 'global']);
/** Members of global objects that read a clock or wait. */
const CLOCKS: ReadonlySet<string> = new Set([
  'process.hrtime',
  'process.uptime',
  'AbortSignal.timeout',
  'Atomics.wait',
  'Atomics.waitAsync',
]);
/** Members of `Date` that do not read the clock. */
const PURE_DATE: ReadonlySet<string> = new Set(['UTC', 'parse', 'prototype']);

/** Whether an import is one of the platform's clocks or timers. */
export function isTimeModule(specifier: string): boolean {
  return MODULES.has(specifier.replace(/^node:/, ''));
}

/** Whether a node is a use of the platform's clocks or timers. */
export function isOwnTime(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) return isClockMember(node);
  if (!ts.isIdentifier(node) || isNameOnly(node)) return false;
  if (node.text === 'Date') return readsClock(node);
  return node.text === 'performance' || TIMER.test(node.text);
}

/** `globalThis.setTimeout`, `globalThis['performance']`, `process.hrtime`. */
function isClockMember(node: ts.PropertyAccessExpression | ts.ElementAccessExpression): boolean {
  const owner = node.expression.getText();
  const argument = ts.isElementAccessExpression(node) ? node.argumentExpression : node.name;
  const member = ts.isStringLiteralLike(argument) ? argument.text : argument.getText();
  if (GLOBAL.has(owner)) return member === 'performance' || member === 'Date' || TIMER.test(member);
  return CLOCKS.has(`${owner}.${member}`);
}

/** The name of a member of something else, as in `time.setTimeout` and `{ setTimeout: ... }`. */
function isNameOnly({ parent, text }: ts.Identifier): boolean {
  if (ts.isPropertyAccessExpression(parent))
    return parent.name.text === text && parent.expression.getText() !== text;
  return (
    ts.isPropertySignature(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isTypeNode(parent)
  );
}

/** `Date` as anything but a type, a class that is checked, or a constructor with arguments. */
function readsClock({ parent }: ts.Identifier): boolean {
  if (ts.isNewExpression(parent)) return parent.arguments === undefined || parent.arguments.length === 0;
  if (ts.isBinaryExpression(parent)) return parent.operatorToken.kind !== ts.SyntaxKind.InstanceOfKeyword;
  if (ts.isPropertyAccessExpression(parent)) return !PURE_DATE.has(parent.name.text);
  return true;
}
