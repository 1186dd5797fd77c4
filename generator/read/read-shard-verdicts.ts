import { type Diagnostic, diagnostic, formatLocation } from '../diagnostics.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ActionSchema, ProjectSchema } from '../schema/project-schema.js';
import type { ReadContext } from './read-context.js';
import { type ShardVerdict, shardVerdict } from './shards/verdict.js';
import { SourceFiles } from './source-files.js';

/** Returns the verdict on every action of a project. */
export function readShardVerdicts(
  projectDirectory: string,
  paths: ProjectPaths,
  schema: ProjectSchema,
): readonly ShardVerdict[] {
  const context: ReadContext = {
    sources: new SourceFiles(projectDirectory),
    paths,
    classes: new Map(),
    types: new Map(),
    diagnostics: [],
  };
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
