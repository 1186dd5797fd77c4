import type { ActionSchema } from '../../schema/project-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { classOf, declaredVariable, resolveName } from '../resolver.js';
import { isConst, isInstanceMember } from '../syntax.js';
import { isPlan, type Perform, readOf, variableOf, withoutWrapping } from './perform.js';

/** What determines the shard of an id or a model. Values with the same text are on the same shard. */
export interface Origin {
  /** `params.walletId`, `shard (1, 0)` */
  readonly text: string;
  /** The shard is written in the source. */
  readonly isLiteral?: true;
}

/** Ids without a shard are all there. */
const DEFAULT_SHARD: Origin = { text: 'the default shard' };

/** Maximum length of a chain of variables and constants; a longer chain is a cycle. */
const MOST_VARIABLES = 16;

/**
 * Follows an expression in its direct forms: params, `const` variables and constants, reads by id or key, new ids, and
 * factories and methods of models. @returns undefined for any other expression
 */
export function originOf(
  context: ReadContext,
  perform: Perform,
  given: ts.Expression,
  followed = 0,
): Origin | undefined {
  const node = withoutWrapping(given);
  const follow = (each: ts.Expression | undefined): Origin | undefined =>
    each === undefined || followed > MOST_VARIABLES
      ? undefined
      : originOf(context, perform, each, followed + 1);
  /** Only the id of a model, and ids of the params. */
  const followPart = (owner: ts.Expression | 'params', name: string): Origin | undefined => {
    const variable = owner !== 'params' && ts.isIdentifier(owner) ? variableOf(perform, owner) : undefined;
    if (owner === 'params' || (variable?.value === 'params' && variable.part === undefined))
      return paramOf(perform.action, name);
    return name === 'id' ? follow(owner) : undefined;
  };
  if (ts.isPropertyAccessExpression(node)) return followPart(node.expression, node.name.text);
  if (ts.isIdentifier(node)) {
    const { value, part, isConstant } = variableOf(perform, node) ?? constantOf(context, node);
    if (value === undefined || !isConstant) return undefined;
    if (part !== undefined) return followPart(value, part);
    return value === 'params' ? undefined : follow(value);
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { expression: target, name } = node.expression;
  const { arguments: args } = node;
  const read = readOf(perform, node);
  if (read !== undefined) return follow(read.place);
  if (isPlan(perform, target)) return follow(args[name.text === 'getOrAdd' ? 1 : 0]);
  const isStatic = ts.isIdentifier(target) && variableOf(perform, target) === undefined;
  const owner = isStatic ? resolveName(context, target) : undefined;
  if (owner?.kind === 'framework') return ofFramework(owner.name, args, follow);
  const declared = owner && classOf(owner);
  if (declared !== undefined) return follow(args[placeIn(declared, name.text)]);
  // A method that takes no id returns a copy of its model, or a part of its id.
  return args.some((each) => follow(each) !== undefined) ? undefined : follow(target);
}

/** `ShardIdentifier.of(1, 0)`, `ShardedId.generate(Note, shard)`, `Id.generate(Note)` */
function ofFramework(
  name: string,
  [first, second]: readonly ts.Expression[],
  follow: (node: ts.Expression | undefined) => Origin | undefined,
): Origin | undefined {
  if (name === 'Id') return DEFAULT_SHARD;
  if (name === 'ShardedId') return follow(second);
  const shard = `(${first?.getText()}, ${second?.getText()})`;
  const isLiteral = name === 'ShardIdentifier' && /^\(\d+, \d+\)$/.test(shard);
  return isLiteral ? { text: `shard ${shard}`, isLiteral } : undefined;
}

/** Position of the first parameter of a static method that is a shard or an id; -1 without one. */
function placeIn({ members }: ts.ClassDeclaration, name: string): number {
  const method = members.find((each) => each.name?.getText() === name && !isInstanceMember(each));
  const { parameters = [] } = method !== undefined && ts.isMethodDeclaration(method) ? method : {};
  return parameters.findIndex(({ type }) => /^(ShardIdentifier|ShardedId|Id)\b/.test(type?.getText() ?? ''));
}

/** A constant outside of `perform`. */
function constantOf(
  context: ReadContext,
  node: ts.Identifier,
): Partial<NonNullable<ReturnType<typeof variableOf>>> {
  const declaration = declaredVariable(resolveName(context, node, 'value'));
  if (declaration?.initializer === undefined) return {};
  return { value: declaration.initializer, isConstant: isConst(declaration) };
}

/** An id of the params. Other params do not determine a shard. */
function paramOf({ params }: ActionSchema, name: string): Origin | undefined {
  const type = params.find((each) => each.name === name)?.type;
  if (type?.kind === 'id' && !type.sharded) return DEFAULT_SHARD;
  return type?.kind === 'id' || type?.kind === 'uuid' ? { text: `params.${name}` } : undefined;
}
