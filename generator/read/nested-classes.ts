import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorName } from './read-decorator.js';
import { reportMisplacedKey } from './read-keys.js';

/** Decorators of classes that generated code imports. */
const MARKERS: ReadonlySet<string> = new Set(['AutoBuilder', 'FwAction', 'FwEventHandler', 'FwSaga']);

/**
 * Reports `@Key` on classes that do not support it, and marked classes inside functions, namespaces and expressions.
 * Examines only decorators that do not belong to a top-level class. Most files have none, so their trees are not
 * walked.
 */
export function reportNestedClasses(context: ReadContext, source: ts.SourceFile): void {
  const others = otherDecorators(source);
  const ofMembers = others.filter((each) => isOfMember(source, each));
  for (const decorator of ofMembers) reportMisplacedKey(context, decorator);
  const found = others.filter((each) => !ofMembers.includes(each));
  if (found.length === 0) return;
  const reported = new Set<ts.Node>();
  for (const decorator of found) {
    const node = decorator.parent;
    reportMisplacedKey(context, decorator);
    const marker = decoratorName(context, decorator) ?? '';
    if (!ts.isClassLike(node) || !MARKERS.has(marker) || reported.has(node)) continue;
    reported.add(node);
    reportNested(context, node, `is marked with @${marker}`);
  }
}

/**
 * Reports a class that generated code cannot import because it is nested. @param problem describes the class in the
 * message
 */
export function reportNested(context: ReadContext, node: ts.ClassLikeDeclaration, problem: string): void {
  const variable = ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : undefined;
  const name = node.name?.text ?? variable;
  report(
    context,
    'FWGEN008',
    node.name ?? node,
    `${name ?? 'A class without a name'} ${problem} inside another declaration`,
    `Write \`export class ${name ?? 'Name'}\` at the top level of a file: generated code imports it by name.`,
  );
}

/** Whether a class has one of the decorators that `reportNestedClasses` reports. */
export function hasMarker(context: ReadContext, node: ts.ClassLikeDeclaration): boolean {
  return node.modifiers?.some((each) => MARKERS.has(decoratorName(context, each) ?? '')) ?? false;
}

/** Whether a decorator belongs to a member of a top-level class. */
function isOfMember(source: ts.SourceFile, { parent }: ts.Decorator): boolean {
  const owner: ts.Node | undefined = (parent as ts.Node | undefined)?.parent;
  return owner !== undefined && ts.isClassDeclaration(owner) && source.statements.includes(owner);
}

function otherDecorators(source: ts.SourceFile): readonly ts.Decorator[] {
  const { text } = source;
  const known = new Set<number>();
  for (const statement of source.statements) {
    if (!ts.isClassDeclaration(statement)) continue;
    for (const modifier of statement.modifiers ?? []) known.add(modifier.getStart(source));
  }
  const found: ts.Decorator[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const decorator = known.has(at) || isTag(text, at) ? undefined : decoratorAt(source, at);
    if (decorator !== undefined) found.push(decorator);
  }
  return found;
}

/** Whether the character at a position follows a star and a space, as a tag in a comment does. */
function isTag(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charAt(before) === ' ') before -= 1;
  return text.charAt(before) === '*' && text.charAt(before + 1) === ' ';
}

function decoratorAt(source: ts.SourceFile, at: number): ts.Decorator | undefined {
  let node: ts.Node | undefined = source;
  while (node !== undefined && !(ts.isDecorator(node) && node.getStart(source) === at)) {
    node = ts.forEachChild(node, (child) => (child.pos <= at && at < child.end ? child : undefined));
  }
  return node;
}
