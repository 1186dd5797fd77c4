import { type Diagnostic, diagnostic, formatLocation } from '../../diagnostics.js';
import type { SourceLocation } from '../../schema/location.js';
import type { ProjectPaths } from '../../schema/paths.js';
import { projectIndex } from '../../schema/project-index.js';
import type { ActionSchema, ProjectSchema } from '../../schema/project-schema.js';
import { ts } from '../compiler.js';
import { type ReadContext, startContext } from '../read-context.js';
import { readDoc } from '../read-doc.js';
import { SourceFiles } from '../source-files.js';
import { classesOf } from '../syntax.js';
import type { Origin } from './origin.js';
import { repositoriesOf } from './repositories.js';
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
  const source = context.sources.load(action.file);
  const node = source && classesOf(source).find((each) => each.name?.text === action.className);
  const perform = node?.members.find(
    (member): member is ts.MethodDeclaration =>
      ts.isMethodDeclaration(member) && member.name.getText() === 'perform' && member.body !== undefined,
  );
  if (node === undefined) return undefined;
  const about = {
    action: action.className,
    location: action.location,
    isIntended: readDoc(node).tags.some(({ name }) => name === 'crossShard'),
  };
  if (perform === undefined)
    return { ...about, verdict: 'unproven', message: 'It has no `perform` method', origins: [] };
  const { models } = projectIndex(schema);
  const { staged, escapes } = findStaged(
    {
      context,
      models,
      sagas: schema.sagas,
      variables: new Map(),
      reassigned: new Set(),
      path: '',
      isRepeated: false,
      repositories: repositoriesOf(context, schema, node),
      self: { kind: 'this' },
      depth: 0,
    },
    perform,
    node,
  );
  return { ...about, ...judge(staged, escapes) };
}

type Judgement = Pick<ShardVerdict, 'verdict' | 'message' | 'origins'>;

function judge(staged: readonly Staged[], escapes: ts.Node | undefined): Judgement {
  const clash = clashOf(staged);
  if (clash !== undefined) {
    const [first, second] = clash;
    return {
      verdict: 'violation',
      message: `It stages on ${first.text} and on ${second.text}`,
      origins: clash,
    };
  }
  if (escapes !== undefined) {
    const text = escapes.getText().split('\n', 1)[0] ?? '';
    return { verdict: 'unproven', message: `\`${text}\` may stage models, and is not analysed`, origins: [] };
  }
  if (staged.length === 0) return { verdict: 'proven', message: 'It stages nothing', origins: [] };
  const [only] = staged;
  if (staged.length === 1 && only !== undefined && !only.isRepeated) {
    const message =
      only.origin === undefined
        ? 'It stages one model'
        : `All staged models have one origin: ${only.origin.text}`;
    return { verdict: 'proven', message, origins: only.origin === undefined ? [] : [only.origin] };
  }
  const unknown = staged.find(({ origin }) => origin === undefined);
  if (unknown !== undefined) {
    return {
      verdict: 'unproven',
      message: `The shard of \`${unknown.text}\` is unknown`,
      origins: [],
    };
  }
  const origins = [
    ...new Map(
      staged.flatMap(({ origin }) => (origin === undefined ? [] : [[origin.key, origin] as const])),
    ).values(),
  ];
  const [first, second] = origins;
  if (first === undefined || second === undefined) {
    return {
      verdict: 'proven',
      message: `All staged models have one origin: ${first?.text ?? 'one origin'}`,
      origins,
    };
  }
  return {
    verdict: 'unproven',
    message: `${first.text} and ${second.text} may be on different shards; the executor checks this at run time`,
    origins: [first, second],
  };
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
