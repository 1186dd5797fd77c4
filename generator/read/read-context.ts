import { type Diagnostic, type DiagnosticCode, diagnostic } from '../diagnostics.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { FieldSchema, ModelReference } from '../schema/type-schema.js';
import type { ts } from './compiler.js';
import { locationOf, type RequestedFiles, type SourceFiles } from './source-files.js';

/** State that all steps of reading share. */
export interface ReadContext {
  readonly sources: SourceFiles;
  readonly paths: ProjectPaths;
  /** Imported classes by `importKey`. Models are referred to far more often than they are read. */
  readonly classes: Map<string, KnownClass>;
  /** Types that have been read, see `KnownType`. */
  readonly types: Map<string, KnownType>;
  /** Mistakes found so far. Each step appends its own. */
  readonly diagnostics: Diagnostic[];
}

/** A schema under construction: an optional property is set only if it has a value. */
export type Draft<Schema> = { -readonly [Key in keyof Schema]: Schema[Key] };

/** The class that an import refers to, and the files that resolving it requested. */
export interface KnownClass {
  readonly reference: ModelReference | undefined;
  readonly requested: RequestedFiles;
}

/** The result of reading a declaration, and everything that it depended on. */
export interface KnownType {
  readonly result: Pick<FieldSchema, 'type' | 'nullable' | 'optional'>;
  readonly requested: RequestedFiles;
  /** Declarations that were read. */
  readonly opened: ReadonlySet<string>;
  /** Number of types that were read. */
  readonly cost: number;
  /** Nesting depth at which the type was read. At a greater depth, it may exceed the limit. */
  readonly depth: number;
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
