/** The package's `./generator` entry: the functions of `fw-gen`, for build scripts. */

export type { ProjectFolders } from './check/check-folders.js';
export {
  DIAGNOSTICS,
  type Diagnostic,
  type DiagnosticCode,
  formatDiagnostic,
} from './diagnostics.js';
export type { ClientFunctionView } from './emit/client/client-functions.js';
export type { ReaderView } from './emit/client/client-readers.js';
export type { DeclaredType } from './emit/client/client-types.js';
export type { ChangeView } from './emit/emit-change.js';
export type { TracedText } from './emit/print/marks.js';
export type { ResponseView } from './emit/response-types.js';
export type { ApplicationView, HandledEventView, TagView } from './emit/views/application-view.js';
export type { ClientPartView, ClientView } from './emit/views/client-view.js';
export type {
  ExtraActionView,
  ExtraEventView,
  ExtraFieldView,
  ExtraModelView,
  ExtraProjectView,
} from './emit/views/extra-views.js';
export type { HeaderView } from './emit/views/header-view.js';
export type { ColumnView, IndexView, MigrationView } from './emit/views/migration-view.js';
export type { MemberView, ModelView, SetterView } from './emit/views/model-view.js';
export type { ServerView } from './emit/views/server-view.js';
export type { SqlMigrationsView, SqlMigrationView } from './emit/views/sql-migrations-view.js';
export type { CollaboratorView, RepositoryView } from './emit/wiring-printer.js';
export { type GenerateOptions, type GenerateResult, generate, type Phase } from './generate.js';
export type { Origin } from './read/shards/origin.js';
export type { ShardVerdict } from './read/shards/verdict.js';
export type { InputOptions } from './read-inputs.js';
export type { SourceLocation } from './schema/location.js';
export type { FileChange } from './write/plan-write.js';
export type { WriteOptions } from './write/write-project.js';
