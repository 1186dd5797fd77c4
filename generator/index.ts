/** The package's `./generator` entry: what `fw-gen` does, for build scripts. */
export {
  DIAGNOSTICS,
  type Diagnostic,
  type DiagnosticCode,
  formatDiagnostic,
} from './diagnostics.js';
export { type GenerateOptions, type GenerateResult, generate } from './generate.js';
export type { SourceLocation } from './schema/location.js';
export type { FileChange } from './write/plan-write.js';
