import { type Diagnostic, type DiagnosticCode, diagnostic } from '../diagnostics.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { FieldSchema, ModelReference } from '../schema/type-schema.js';
import type { ts } from './compiler.js';
import { type Asked, locationOf, type SourceFiles } from './source-files.js';

/** What every step of reading works with. */
export interface ReadContext {
  readonly sources: SourceFiles;
  readonly paths: ProjectPaths;
  /** Classes that were found behind imports, by `importKey`: models are named far more often than they are read. */
  readonly classes: Map<string, KnownClass>;
  /** Declared types that were read, see `KnownType`. */
  readonly types: Map<string, KnownType>;
  /** Mistakes found so far; steps append. */
  readonly diagnostics: Diagnostic[];
}

/** A schema that is being put together: what is absent is added only where there is something to say. */
export type Draft<Schema> = { -readonly [Key in keyof Schema]: Schema[Key] };

/** What an import led to, and the files on the way. */
export interface KnownClass {
  readonly reference: ModelReference | undefined;
  readonly asked: Asked;
}

/** What a declaration gave, and all that this depended on. */
export interface KnownType {
  readonly given: Pick<FieldSchema, 'type' | 'nullable' | 'optional'>;
  readonly asked: Asked;
  /** Declarations that were opened. */
  readonly opened: ReadonlySet<string>;
  /** Types that were read. */
  readonly cost: number;
  /** Where it was read: what is read further down may be too deep. */
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
