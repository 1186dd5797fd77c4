import { type Diagnostic, diagnostic, formatLocation } from '../../diagnostics.js';
import type { SourceLocation } from '../../schema/location.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { abbreviate } from '../read-literal.js';
import { locationOf } from '../source-files.js';
import { type Origin, originOf } from './origin.js';
import type { Perform, Use } from './perform.js';

/** The result of analysing the shards of one action. */
export interface ShardVerdict {
  /** Name of the class. */
  readonly action: string;
  readonly location: SourceLocation;
  /**
   * `proven`: everything that it stages has one origin. `unproven`: the source does not determine the shards, and the
   * executor checks them at run time.
   */
  readonly verdict: 'proven' | 'unproven';
  /** The reason, as a sentence. */
  readonly message: string;
}

/** Returns the verdict on an action. */
export function shardVerdict(context: ReadContext, perform: Perform): ShardVerdict {
  const { className, location } = perform.action;
  return { action: className, location, ...judge(perform, stagedBy(context, perform)) };
}

/** Reports an action that certainly stages on two shards. */
export function checkShards(context: ReadContext, perform: Perform): readonly Diagnostic[] {
  const { className, isCrossShard } = perform.action;
  const certain = isCrossShard === true ? [] : certainly(perform, stagedBy(context, perform));
  const [first] = certain;
  const second = certain.find(({ origin }) => origin.text !== first?.origin.text);
  if (first === undefined || second === undefined) return [];
  const place = formatLocation(locationOf(first.node));
  const message = `${className} stages on ${second.origin.text} here, and on ${first.origin.text} at ${place}`;
  const hint =
    'Split it into one action per shard. If callers run it with allowCrossShard(true), write @crossShard in its comment.';
  return [diagnostic('FWGEN045', locationOf(second.node), message, hint)];
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

function judge(perform: Perform, staged: readonly Staged[]): Judgement {
  const handedOn = perform.uses.find(isHandedOn);
  if (handedOn !== undefined)
    return unproven(`\`${abbreviate(handedOn.node.getText())}\` may stage models, and is not analysed`);
  const unknown = staged.find(({ origin }) => origin === undefined);
  if (unknown !== undefined && (staged.length > 1 || isRepeated(perform, unknown)))
    return unproven(`The shard of \`${abbreviate(unknown.model.getText())}\` is unknown`);
  const [first, second] = new Set(staged.flatMap(({ origin }) => origin?.text ?? []));
  if (second !== undefined)
    return unproven(
      `${first} and ${second} may be on different shards; the executor checks this at run time`,
    );
  const message = first === undefined ? 'It stages one model' : `All staged models have one origin: ${first}`;
  return { verdict: 'proven', message: staged.length === 0 ? 'It stages nothing' : message };
}

function unproven(message: string): Judgement {
  return { verdict: 'unproven', message };
}

/** What `perform` stages on literal shards whenever it completes. */
function certainly(
  perform: Perform,
  staged: readonly Staged[],
): readonly (Staged & { readonly origin: Origin })[] {
  return staged.flatMap((each) => {
    const { origin } = each;
    return origin?.isLiteral === true && isCertain(perform, each) ? [{ ...each, origin }] : [];
  });
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
