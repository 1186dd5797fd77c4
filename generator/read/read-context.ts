import { type Diagnostic, type DiagnosticCode, diagnostic } from '../diagnostics.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ts } from './compiler.js';
import { locationOf, type SourceFiles } from './source-files.js';
import { Checker } from './types/checker.js';
import { ModuleResolution } from './types/module-resolution.js';

/** State that all steps of reading share. */
export interface ReadContext {
  readonly sources: SourceFiles;
  readonly paths: ProjectPaths;
  /** Finds the files that imports name. */
  readonly modules: ModuleResolution;
  /** Determines types that the syntax alone does not. */
  readonly checker: Checker;
  /** Mistakes found so far. Each step appends its own. */
  readonly diagnostics: Diagnostic[];
  /** What is probably a mistake. Each step appends its own. */
  readonly warnings: Diagnostic[];
}

/** Returns the state in which reading files begins. */
export function startContext({
  files,
  ...given
}: Pick<ReadContext, 'sources' | 'paths' | 'diagnostics'> & {
  readonly files: readonly string[];
}): ReadContext {
  const modules = new ModuleResolution(given.sources, given.paths);
  return { ...given, modules, checker: new Checker(given.sources, modules, files), warnings: [] };
}

/** Reports a mistake at a node. @returns undefined, which is what a reader returns that found no valid form */
export function report(
  context: ReadContext,
  code: DiagnosticCode,
  node: ts.Node,
  message: string,
  hint: string,
): undefined {
  context.diagnostics.push(diagnostic(code, locationOf(node), message, hint));
}

/** Reports what is probably a mistake. */
export const warn: typeof report = (context, ...mistake) =>
  report({ ...context, diagnostics: context.warnings }, ...mistake);
