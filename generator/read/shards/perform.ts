import type { ActionSchema } from '../../schema/project-schema.js';
import { ts } from '../compiler.js';
import type { SourceFiles } from '../source-files.js';
import { bareExpression, classNamed, isConst, parameterProperties } from '../syntax.js';

/** The method `perform` of an action: what it declares, and where it uses its plan. */
export interface Perform {
  readonly action: ActionSchema;
  readonly body: ts.Block;
  /** Variables and params by name; several of one name are declared in different blocks. */
  readonly variables: ReadonlyMap<string, readonly Variable[]>;
  /** The properties of the action that contain a repository. */
  readonly repositories: ReadonlySet<string>;
  /** In source order. */
  readonly uses: readonly Use[];
}

/** A name that `perform` declares. */
export interface Variable {
  /** What it has its value from. */
  readonly value: ts.Expression | 'params';
  /** The part of the value that it is, in a pattern: the name of a property or an index. */
  readonly part?: string;
  /** Undefined for params. */
  readonly declaration?: ts.VariableDeclaration;
  readonly isConstant: boolean;
}

/** A use of the plan or of `this`, except of its fields. */
export interface Use {
  readonly of: 'plan' | 'action';
  /** The called method; undefined where other code receives the plan or the action. */
  readonly method?: string;
  readonly node: ts.Node;
  /** The model that the call stages or expects. */
  readonly model?: ts.Expression | undefined;
}

/** By staging method of a plan: the position of the model among the arguments. */
const STAGING: ReadonlyMap<string, number> = new Map([
  ['add', 0],
  ['update', 0],
  ['expect', 0],
  ['getOrAdd', 1],
]);

/** Reads by their arguments, of which one determines the shard. */
const READS: ReadonlyMap<string, number> = new Map([
  ['getById', 0],
  ['findById', 0],
  ['getByKey', 1],
  ['findByKey', 1],
]);

/** Reads the `perform` of an action; undefined if its class has none of its own. */
export function readPerform(sources: SourceFiles, action: ActionSchema): Perform | undefined {
  const source = sources.load(action.file);
  const node = source && classNamed(source, action.className);
  const method = node?.members
    .filter(ts.isMethodDeclaration)
    .find((member) => member.name.getText() === 'perform' && member.body !== undefined);
  if (node === undefined || method?.body === undefined) return undefined;
  const { body, parameters } = method;
  const variables = new Map<string, Variable[]>();
  const uses: Use[] = [];
  const perform = { action, body, variables, uses, repositories: repositoriesOf(action, node) };
  const declare = (name: ts.BindingName, variable: Variable): void => {
    for (const [local, each] of boundBy(name, variable))
      variables.set(local, [...(variables.get(local) ?? []), each]);
  };
  const visit = (each: ts.Node): void => {
    if (ts.isVariableDeclaration(each) && each.initializer !== undefined) {
      declare(each.name, { value: each.initializer, declaration: each, isConstant: isConst(each) });
    }
    const use = useOf(perform, each);
    if (use !== undefined) uses.push(use);
    ts.forEachChild(each, visit);
  };
  const params = parameters[1]?.name;
  if (params !== undefined) declare(params, { value: 'params', isConstant: true });
  visit(body);
  return perform;
}

function repositoriesOf({ collaborators }: ActionSchema, node: ts.ClassDeclaration): ReadonlySet<string> {
  const types = collaborators.flatMap(({ wiring }) =>
    wiring.kind === 'repository' || wiring.kind === 'default-repository' ? [wiring.name] : [],
  );
  const properties = [...node.members.filter(ts.isPropertyDeclaration), ...parameterProperties(node)];
  const ofTypes = properties.filter(({ type }) => types.includes(type?.getText() ?? ''));
  return new Set(ofTypes.map(({ name }) => name.getText()));
}

/** The names of a pattern, each with what it has its value from. */
function boundBy(name: ts.BindingName, variable: Variable): readonly (readonly [string, Variable])[] {
  if (ts.isIdentifier(name)) return [[name.text, variable]];
  const { value } = variable;
  const items = value === 'params' || ts.isObjectBindingPattern(name) ? [] : itemsOf(value);
  return name.elements.flatMap((element, index) => {
    if (ts.isOmittedExpression(element)) return [];
    const item = items[index];
    const part = ts.isObjectBindingPattern(name)
      ? (element.propertyName ?? element.name).getText()
      : String(index);
    return boundBy(element.name, { ...variable, ...(item === undefined ? { part } : { value: item }) });
  });
}

/** The items of `[a, b]` and of `Promise.all([a, b])`. */
function itemsOf(given: ts.Expression): readonly ts.Expression[] {
  const node = withoutWrapping(given);
  if (ts.isArrayLiteralExpression(node)) return node.elements;
  const isAll = ts.isCallExpression(node) && node.expression.getText() === 'Promise.all';
  const [list] = isAll ? node.arguments : [];
  return list !== undefined && ts.isArrayLiteralExpression(list) ? list.elements : [];
}

/** The expression inside of `await`, parentheses and assertions. */
export function withoutWrapping(node: ts.Expression): ts.Expression {
  const bare = bareExpression(node);
  return ts.isAwaitExpression(bare) || ts.isNonNullExpression(bare) ? withoutWrapping(bare.expression) : bare;
}

type Variables = Pick<Perform, 'variables'>;

/** Returns the variable that a name means: that of the innermost block. */
export function variableOf({ variables }: Variables, node: ts.Identifier): Variable | undefined {
  return variables.get(node.text)?.findLast(({ declaration }) => {
    const block = declaration?.parent.parent.parent;
    return block === undefined || (block.pos <= node.pos && node.end <= block.end);
  });
}

/** Whether an expression is the plan: `this.plan()`, or a variable with it. */
export function isPlan(perform: Variables, node: ts.Node): boolean {
  if (ts.isIdentifier(node)) {
    const value = variableOf(perform, node)?.value;
    return value !== undefined && value !== 'params' && ts.isCallExpression(value) && isPlan(perform, value);
  }
  return ts.isCallExpression(node) && /^this\s*\.\s*plan$/.test(node.expression.getText());
}

function useOf(perform: Variables, node: ts.Node): Use | undefined {
  const { parent } = node;
  const isThis = node.kind === ts.SyntaxKind.ThisKeyword;
  if (!isThis && (!isPlan(perform, node) || ts.isVariableDeclaration(parent))) return undefined;
  const of = isThis ? 'action' : 'plan';
  if (!ts.isPropertyAccessExpression(parent)) return { of, node: parent };
  if (parent.expression !== node) return undefined;
  const method = parent.name.text;
  const call = parent.parent;
  const isCalled = ts.isCallExpression(call) && call.expression === parent;
  if (isThis) return isCalled && method !== 'plan' ? { of, method, node: parent } : undefined;
  return isCalled
    ? { of, method, node: call, model: call.arguments[STAGING.get(method) ?? -1] }
    : { of, node: parent };
}

/** Returns a read of one model with what determines its shard; undefined for any other expression. */
export function readOf(
  { repositories }: Perform,
  given: ts.Expression,
): { readonly place: ts.Expression | undefined } | undefined {
  const call = withoutWrapping(given);
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return undefined;
  const { name, expression: target } = call.expression;
  const place = READS.get(name.text);
  const isRead = ts.isPropertyAccessExpression(target) && repositories.has(target.name.text);
  return isRead && place !== undefined ? { place: call.arguments[place] } : undefined;
}
