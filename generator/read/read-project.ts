import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { attempt } from './attempt.js';
import { changingReads } from './changing-reads.js';
import { comparedInModel, comparedInPerform } from './compared-decimals.js';
import { listMigrations, listSources, type SourceList } from './list-files.js';
import { type Found, readClasses } from './read-classes.js';
import { startContext } from './read-context.js';
import { readMigration } from './read-migrations.js';
import { readPerform } from './shards/perform.js';
import { checkShards, type ShardVerdict, shardVerdict } from './shards/verdict.js';
import { SourceFiles } from './source-files.js';
import { unemittedEvents } from './unemitted-events.js';
import { unprotectedReads } from './unprotected-reads.js';

/** The result of reading: all valid declarations and every mistake. */
export interface ReadResult {
  readonly schema: ProjectSchema;
  readonly diagnostics: readonly Diagnostic[];
  /** Returns what is probably a mistake. Computed when called. */
  readonly warnings: () => readonly Diagnostic[];
  /** Returns the result of analysing the shards of each action. Computed when called. */
  readonly shardVerdicts: () => readonly ShardVerdict[];
  /** Folders that were listed and files that were requested, whether they exist or not. */
  readonly inputs: readonly string[];
}

/**
 * Reads all sources of a project. Collects mistakes instead of throwing them; errors of the disk count as mistakes.
 *
 * @param sources of an earlier run, without changed files. Default: every file is read.
 */
export function readProject(
  projectDirectory: string,
  paths: ProjectPaths,
  sources: SourceFiles = new SourceFiles(projectDirectory),
): ReadResult {
  const diagnostics: Diagnostic[] = [];
  const { files, migrations, folders } = listFiles(sources, paths, diagnostics);
  const context = startContext({ sources, paths, files, diagnostics });
  const schema = nothingFound();
  for (const file of files) attempt(diagnostics, file, () => readClasses(context, file, schema));
  for (const file of migrations) {
    const migration = attempt(diagnostics, file, () =>
      readMigration(file, sources.text(file) ?? '', paths.migrations),
    );
    if (migration !== undefined && 'up' in migration) schema.migrations.push(migration);
    else if (migration !== undefined) diagnostics.push(migration);
  }
  const performs = schema.actions.flatMap((action) => readPerform(sources, action) ?? []);
  for (const perform of performs)
    diagnostics.push(...checkShards(context, perform), ...comparedInPerform(perform));
  for (const model of schema.models) diagnostics.push(...comparedInModel(sources, model));
  const inputs = [
    ...new Set([...folders, paths.migrations, ...sources.requested, ...context.modules.inputs]),
  ];
  // After a syntax error only syntax errors are reported, because they may cause other diagnostics.
  const { syntaxErrors } = sources;
  if (syntaxErrors.length > 0) {
    const nothing = (): readonly never[] => [];
    const results = { warnings: nothing, shardVerdicts: nothing };
    return { schema: nothingFound(), diagnostics: syntaxErrors, ...results, inputs };
  }
  return {
    schema,
    diagnostics,
    warnings: () => [
      ...context.warnings,
      ...unemittedEvents(sources, files, schema.events),
      ...performs.flatMap(unprotectedReads),
      ...performs.flatMap(changingReads),
    ],
    shardVerdicts: () => performs.map((perform) => shardVerdict(context, perform)),
    inputs,
  };
}

function nothingFound(): Found {
  return {
    ...{ models: [], refusedModels: [], events: [], actions: [] },
    ...{ handlers: [], sagas: [], repositories: [], migrations: [] },
  };
}

function listFiles(
  { projectDirectory }: SourceFiles,
  { source, output, migrations, client }: ProjectPaths,
  diagnostics: Diagnostic[],
): SourceList & { readonly migrations: readonly string[] } {
  const excluded = [output, migrations, ...(client === undefined ? [] : [client])];
  const found = attempt(diagnostics, { key: 'source', path: source }, () =>
    listSources(projectDirectory, source, excluded),
  );
  const listed =
    attempt(diagnostics, { key: 'migrations', path: migrations }, () =>
      listMigrations(projectDirectory, migrations),
    ) ?? [];
  diagnostics.push(...(found?.emitted ?? []).map(formerOutput));
  return { files: [], folders: [], emitted: [], ...found, migrations: listed };
}

function formerOutput(folder: string): Diagnostic {
  const message = 'This folder in the sources has emitted files of a former output';
  const hint = 'Delete the folder, or set fw.generator.output to it.';
  return diagnostic('FWGEN036', { file: folder }, message, hint);
}
