/** The package's `./generator` entry: the functions of `fw-gen`, for build scripts. */

export type { ProjectFolders } from './check/check-folders.js';
export {
  DIAGNOSTICS,
  type Diagnostic,
  type DiagnosticCode,
  formatDiagnostic,
} from './diagnostics.js';
export type { ReaderView } from './emit/client/client-readers.js';
export type { ClientRouteView } from './emit/client/client-routes.js';
export type { DeclaredType, TypeMemberView } from './emit/client/client-types.js';
export type { ChangeView } from './emit/emit-change.js';
export type { FieldView } from './emit/field-code.js';
export type { ImportView } from './emit/print/imports.js';
export type { TracedText } from './emit/print/marks.js';
export type { DocView } from './emit/print/strings.js';
export type { ResponseView } from './emit/responses.js';
export type { MemberView } from './emit/shape-text.js';
export type { ActionView } from './emit/views/action-view.js';
export type {
  ApplicationView,
  CollaboratorView,
  HandlerView,
  SagaView,
} from './emit/views/application-view.js';
export type { ClientView } from './emit/views/client-view.js';
export type {
  ExtraActionView,
  ExtraEventView,
  ExtraFieldView,
  ExtraModelView,
  ExtraProjectView,
} from './emit/views/extra-views.js';
export type { HeaderView, ServerView } from './emit/views/header-view.js';
export type { ColumnView, IndexView, MigrationView } from './emit/views/migration-view.js';
export type { ModelColumnView, ModelView, SetterView } from './emit/views/model-view.js';
export type { EventView, PartView } from './emit/views/part-view.js';
export type { SqlMigrationsView, SqlMigrationView } from './emit/views/sql-migrations-view.js';
export type {
  UpcastersView,
  UpcasterView,
  VersionsView,
  VersionTypeView,
} from './emit/views/versions-view.js';
export type { ConstructionView, RepositoryView } from './emit/wiring.js';
export { type GenerateOptions, type GenerateResult, generate, type Phase } from './generate.js';
export type { Origin } from './read/shards/origin.js';
export type { ShardVerdict } from './read/shards/verdict.js';
export type { InputOptions } from './read-inputs.js';
export type { SourceLocation } from './schema/location.js';
export type { FileChange } from './write/plan-write.js';
export type { WriteOptions } from './write/write-project.js';
