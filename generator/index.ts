/** The package's `./generator` entry: the functions of `fw-gen`, for build scripts. */

export type { ProjectFolders } from './check/check-folders.js';
export {
  DIAGNOSTICS,
  type Diagnostic,
  type DiagnosticCode,
  formatDiagnostic,
} from './diagnostics.js';
export { type GenerateOptions, type GenerateResult, generate } from './generate.js';
export type { InputOptions } from './read-inputs.js';
export type { SourceLocation } from './schema/location.js';
export type { FileChange } from './write/plan-write.js';
export type { WriteOptions } from './write/write-project.js';
