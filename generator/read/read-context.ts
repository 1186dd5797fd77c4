import type { ts } from 'ts-morph';
import { type Diagnostic, type DiagnosticCode, diagnostic } from '../diagnostics.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ModelReference } from '../schema/type-schema.js';
import { locationOf, type SourceFiles } from './source-files.js';

/** What every step of reading works with. */
export interface ReadContext {
  readonly sources: SourceFiles;
  readonly paths: ProjectPaths;
  /** Classes that were found behind imports, by `importKey`: models are named far more often than they are read. */
  readonly classes: Map<string, ModelReference | undefined>;
  /** Mistakes found so far; steps append. */
  readonly diagnostics: Diagnostic[];
}

/** Reports a mistake at a node. */
export function report(
  context: ReadContext,
  code: DiagnosticCode,
  node: ts.Node,
  message: string,
  hint: string,
): void {
  context.diagnostics.push(diagnostic(code, locationOf(node), message, hint));
}
