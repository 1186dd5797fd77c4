/** The package's `./generator` entry: what `fw-gen` does, for build scripts. */
export {
  DIAGNOSTICS,
  type Diagnostic,
  type DiagnosticCode,
  formatDiagnostic,
} from './diagnostics.js';
export type { ChangeView } from './emit/emit-change.js';
export type { ApplicationView } from './emit/views/application-view.js';
export type {
  ExtraActionView,
  ExtraEventView,
  ExtraFieldView,
  ExtraModelView,
  ExtraProjectView,
} from './emit/views/extra-views.js';
export type { HeaderView } from './emit/views/header-view.js';
export type { MigrationView } from './emit/views/migration-view.js';
export type { ModelView } from './emit/views/model-view.js';
export type { ServerView } from './emit/views/server-view.js';
export type { SqlMigrationsView } from './emit/views/sql-migrations-view.js';
export { type GenerateOptions, type GenerateResult, generate } from './generate.js';
export type { SourceLocation } from './schema/location.js';
export type { FileChange } from './write/plan-write.js';
