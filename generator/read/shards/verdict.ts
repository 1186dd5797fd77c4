import { type Diagnostic, diagnostic, formatLocation } from '../../diagnostics.js';
import type { SourceLocation } from '../../schema/location.js';
import type { ProjectPaths } from '../../schema/paths.js';
import { projectIndex } from '../../schema/project-index.js';
import type { ActionSchema, ProjectSchema } from '../../schema/project-schema.js';
import type { ts } from '../compiler.js';
import { performOf } from '../perform-method.js';
import { type ReadContext, startContext } from '../read-context.js';
import { readDoc } from '../read-doc.js';
import { SourceFiles } from '../source-files.js';
import { type Origin, repositoriesOf } from './origin.js';
import { findStaged, type Staged } from './staging.js';

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
  /**
   * The two origins of a violation, at the locations where they are staged; or the origins that could not be proven
   * equal.
   */
  readonly origins: readonly Origin[];
  /** Its comment has `@crossShard`: it may use several shards. */
  readonly isIntended: boolean;
}

/** Returns the verdict on every action of a project. */
export function readShardVerdicts(
  projectDirectory: string,
  paths: ProjectPaths,
  schema: ProjectSchema,
): readonly ShardVerdict[] {
  const context = startContext(new SourceFiles(projectDirectory), paths);
  return schema.actions
    .map((action) => shardVerdict(context, schema, action))
    .filter((verdict) => verdict !== undefined);
}

/** Reports the actions that certainly stage on two shards. */
export function checkShards(
  context: ReadContext,
  schema: ProjectSchema,
  suspects: readonly ActionSchema[],
): readonly Diagnostic[] {
  return suspects.flatMap((action) => {
    const found = shardVerdict(context, schema, action);
    const [first, second] = found?.origins ?? [];
    if (found?.verdict !== 'violation' || found.isIntended || first === undefined || second === undefined)
      return [];
    const message = `${action.className} stages on ${second.text} here, and on ${first.text} at ${formatLocation(first.location)}`;
    const hint =
      'Split it into one action per shard. If callers run it with allowCrossShard(true), write @crossShard in its comment.';
    return [diagnostic('FWGEN045', second.location, message, hint)];
  });
}

/** Follows the origin of everything that an action stages; undefined if its class no longer exists. */
export function shardVerdict(
  context: ReadContext,
  schema: ProjectSchema,
  action: ActionSchema,
): ShardVerdict | undefined {
  const found = performOf(context, action);
  if (found === undefined) return undefined;
  const { node, perform } = found;
  const about = {
    action: action.className,
    location: action.location,
    isIntended: readDoc(node).tags.some(({ name }) => name === 'crossShard'),
  };
  if (perform === undefined)
    return { ...about, verdict: 'unproven', message: 'It has no `perform` method', origins: [] };
  const index = projectIndex(schema);
  const repositories = repositoriesOf(context, index, node);
  const scope = { context, index, repositories, locals: new Map(), isRepeated: false, depth: 0 };
  const { staged, escapes } = findStaged(scope, perform);
  return { ...about, ...judge(staged, escapes) };
}

type Judgement = Pick<ShardVerdict, 'verdict' | 'message' | 'origins'>;

function judge(staged: readonly Staged[], escapes: ts.Node | undefined): Judgement {
  const unproven = (message: string, ...origins: readonly Origin[]): Judgement => ({
    verdict: 'unproven',
    message,
    origins,
  });
  const clash = clashOf(staged);
  if (clash !== undefined) {
    const message = `It stages on ${clash[0].text} and on ${clash[1].text}`;
    return { verdict: 'violation', message, origins: clash };
  }
  if (escapes !== undefined)
    return unproven(`\`${escapes.getText().split('\n', 1)[0]}\` may stage models, and is not analysed`);
  const known = staged.flatMap(({ origin }) => (origin === undefined ? [] : [[origin.key, origin] as const]));
  const [first, second] = new Map(known).values();
  const unknown = staged.find(({ origin }) => origin === undefined);
  const isSingle = staged.length < 2 && unknown?.isRepeated !== true;
  if (unknown !== undefined && !isSingle) return unproven(`The shard of \`${unknown.text}\` is unknown`);
  if (first !== undefined && second !== undefined)
    return unproven(
      `${first.text} and ${second.text} may be on different shards; the executor checks this at run time`,
      first,
      second,
    );
  const message =
    staged.length === 0
      ? 'It stages nothing'
      : first === undefined
        ? 'It stages one model'
        : `All staged models have one origin: ${first.text}`;
  return { verdict: 'proven', message, origins: first === undefined ? [] : [first] };
}

/**
 * Returns two different constant shards that `perform` stages on whenever it completes; undefined if there are none.
 */
function clashOf(staged: readonly Staged[]): readonly [Origin, Origin] | undefined {
  const certain = staged.flatMap(({ origin, isConditional, location }) =>
    origin?.constant !== undefined && !isConditional ? [{ ...origin, location }] : [],
  );
  const [first] = certain;
  const second = certain.find((origin) => origin.constant !== first?.constant);
  return first === undefined || second === undefined ? undefined : [first, second];
}
