import { type Diagnostic, diagnostic, formatLocation } from '../../diagnostics.js';
import type { SourceLocation } from '../../schema/location.js';
import type { ActionSchema } from '../../schema/project-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { abbreviate } from '../read-literal.js';
import { locationOf } from '../source-files.js';
import { type Origin, originOf } from './origin.js';
import { type Perform, readPerform, type Use } from './perform.js';

/** The result of analysing the shards of one action. */
export interface ShardVerdict {
  /** Name of the class. */
  readonly action: string;
  readonly location: SourceLocation;
  /**
   * `proven`: everything that it stages has one origin. `violation`: it stages on two different shards that are written
   * in the source. `unproven`: the source does not determine the shards, and the executor checks them at run time.
   */
  readonly verdict: 'proven' | 'unproven' | 'violation';
  /** The reason, as a sentence. */
  readonly message: string;
}

/** Returns the verdict on an action. */
export function shardVerdict(context: ReadContext, action: ActionSchema): ShardVerdict {
  const { className, location } = action;
  return { action: className, location, ...judge(context, readPerform(context.sources, action)) };
}

/** Reports an action that certainly stages on two shards. */
export function checkShards(context: ReadContext, action: ActionSchema): readonly Diagnostic[] {
  const perform = action.isCrossShard === true ? undefined : readPerform(context.sources, action);
  const clash = perform && clashOf(perform, stagedBy(context, perform));
  if (clash === undefined) return [];
  const [first, second] = clash.map(({ origin, node }) => ({ ...origin, location: locationOf(node) }));
  if (first === undefined || second === undefined) return [];
  const message = `${action.className} stages on ${second.text} here, and on ${first.text} at ${formatLocation(first.location)}`;
  const hint =
    'Split it into one action per shard. If callers run it with allowCrossShard(true), write @crossShard in its comment.';
  return [diagnostic('FWGEN045', second.location, message, hint)];
}

/** A model that `perform` stages or expects. */
interface Staged extends Use {
  readonly model: ts.Expression;
  /** Undefined if it is unknown. */
  readonly origin: Origin | undefined;
}

function stagedBy(context: ReadContext, perform: Perform): readonly Staged[] {
  return perform.uses.flatMap(({ model, ...use }) =>
    model === undefined ? [] : { ...use, model, origin: originOf(context, perform, model) },
  );
}

type Judgement = Pick<ShardVerdict, 'verdict' | 'message'>;

function judge(context: ReadContext, perform: Perform | undefined): Judgement {
  if (perform === undefined) return unproven('It has no `perform` method');
  const staged = stagedBy(context, perform);
  const origins = new Map(staged.map(({ origin }) => [origin?.text, origin]));
  const [first, second] = [...origins.values()].filter((origin) => origin !== undefined);
  const [one, other] = clashOf(perform, staged) ?? [];
  if (one !== undefined && other !== undefined)
    return { verdict: 'violation', message: `It stages on ${one.origin?.text} and on ${other.origin?.text}` };
  const handedOn = perform.uses.find(isHandedOn);
  if (handedOn !== undefined)
    return unproven(`\`${abbreviate(handedOn.node.getText())}\` may stage models, and is not analysed`);
  const unknown = staged.find(({ origin }) => origin === undefined);
  if (unknown !== undefined && (staged.length > 1 || isRepeated(perform, unknown)))
    return unproven(`The shard of \`${abbreviate(unknown.model.getText())}\` is unknown`);
  if (first !== undefined && second !== undefined)
    return unproven(
      `${first.text} and ${second.text} may be on different shards; the executor checks this at run time`,
    );
  const message =
    first === undefined ? 'It stages one model' : `All staged models have one origin: ${first.text}`;
  return { verdict: 'proven', message: staged.length === 0 ? 'It stages nothing' : message };
}

function unproven(message: string): Judgement {
  return { verdict: 'unproven', message };
}

/** Two models that `perform` stages on different literal shards whenever it completes; undefined if there are none. */
function clashOf(perform: Perform, staged: readonly Staged[]): readonly Staged[] | undefined {
  const certain = staged.filter((each) => each.origin?.isLiteral === true && isCertain(perform, each));
  const [first] = certain;
  const second = certain.find(({ origin }) => origin?.text !== first?.origin?.text);
  return first === undefined || second === undefined ? undefined : [first, second];
}

/** Whether other code may stage models. A scheduled action takes the shard of the plan, unless its id is used. */
function isHandedOn({ of, method, model, node }: Use): boolean {
  if (of === 'action' || method === undefined) return true;
  return model === undefined && !(method === 'schedule' && ts.isExpressionStatement(node.parent));
}

function isRepeated({ body }: Perform, { node }: Use): boolean {
  const outer = ts.findAncestor(
    node,
    (each) => each === body || ts.isFunctionLike(each) || ts.isIterationStatement(each, false),
  );
  return outer !== body;
}

/** Whether the call runs once whenever `perform` completes. `getOrAdd` stages only a model that does not exist yet. */
function isCertain({ body }: Perform, { method, node }: Use): boolean {
  let each = node;
  for (; each.parent !== body; each = each.parent) {
    const isBranch = ts.isConditionalExpression(each) || ts.isBinaryExpression(each) || ts.isStatement(each);
    if (isBranch || ts.isFunctionLike(each)) return false;
  }
  const before = body.statements.filter(({ end }) => end <= each.pos);
  return (
    method !== 'getOrAdd' &&
    !before.some((other) => ts.isReturnStatement(other) || ts.isThrowStatement(other))
  );
}
