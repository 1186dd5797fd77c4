import { compareText } from '../diagnostics.js';
import type { EmittedFiles } from '../schema/emitted-files.js';
import { modelNames } from '../schema/model-names.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { clientView } from './client/client-view.js';
import { Emission } from './emission.js';
import type { EmitInput } from './emit-input.js';
import { nameMigrations } from './migration-names.js';
import type { TemplateName } from './own-templates.js';
import { type MigrationPlace, partsOf } from './parts.js';
import { Marks, type TracedText } from './print/marks.js';
import { Renderer } from './render.js';
import { applicationView } from './views/application-view.js';
import { headerView } from './views/header-view.js';
import { migrationView } from './views/migration-view.js';
import { modelFile, modelView } from './views/model-view.js';
import { partViews } from './views/part-view.js';
import { type SqlMigrationsView, sqlMigrationsView } from './views/sql-migrations-view.js';
import { versionsView } from './views/versions-view.js';

/**
 * Emits all files of a checked schema. Its only side effect is loading this package's templates. @throws TemplateError
 */
export function emitProject(input: EmitInput): EmittedFiles {
  return emitFiles(input, undefined);
}

/**
 * Returns the same generated files with the declaration that causes each line, for `fw-gen explain`. Slower than
 * `emitProject`.
 */
export function traceProject(input: EmitInput): ReadonlyMap<string, TracedText> {
  const marks = new Marks();
  const { generated } = emitFiles(input, marks);
  return new Map([...generated].map(([path, text]) => [path, marks.resolve(text)]));
}

function emitFiles(input: EmitInput, marks: Marks | undefined): EmittedFiles {
  const { paths, title, version } = input;
  const schema = sorted(input.schema);
  const renderer = new Renderer(input.templates);
  const emission = new Emission(schema, paths, marks);
  const migrations = emitMigrations(schema, input, renderer);
  const file = (name: string): string => `${paths.output}/${name}.ts`;
  const sqlMigrations = sqlMigrationsView(emission);
  const places = migrationPlaces(schema, migrations, sqlMigrations, file('sql-migrations'));
  const generated = new Map<string, string>();
  const add = (path: string, template: TemplateName, view: object): void =>
    void generated.set(path, renderer.render(template, view));
  for (const model of schema.models) {
    const path = modelFile(paths.output, model);
    generated.set(
      path,
      emission.at(model.location, renderer.render('model', modelView(emission, model, path))),
    );
  }
  const parts = partViews(emission, partsOf(emission, places));
  for (const part of parts) add(part.file, 'part', part.view);
  const application = file('application');
  add(application, 'application', applicationView(emission, application, parts, { title, version }));
  if (sqlMigrations.migrations.length > 0) add(file('sql-migrations'), 'sql-migrations', sqlMigrations);
  const { lockedTypes = [] } = input;
  if (lockedTypes.length > 0) add(file('versions'), 'versions', versionsView(emission, lockedTypes));
  add(file('server'), 'server', headerView(paths.source));
  if (paths.client !== undefined) {
    const client = `${paths.client}/client.ts`;
    add(client, 'client', clientView(emission, client));
  }
  return { generated, migrations: new Map([...migrations].map(([path, { text }]) => [path, text])) };
}

/** All migrations including new ones, sorted by path. @param texts path of the module with the texts of `.sql` files */
function migrationPlaces(
  schema: ProjectSchema,
  created: ReadonlyMap<string, NewMigration>,
  { migrations: sqlMigrations }: SqlMigrationsView,
  texts: string,
): readonly MigrationPlace[] {
  const variables = new Map(sqlMigrations.map(({ path, variable }) => [path, variable]));
  const present = schema.migrations.map(({ file: path, creates, tables = [] }) => {
    const name = variables.get(path);
    const [table] = [...creates, ...tables];
    return name === undefined
      ? { path, file: path, name: 'migration', table }
      : { path, file: texts, name, table };
  });
  const added = [...created].map(([path, { table }]) => ({ path, file: path, name: 'migration', table }));
  return [...present, ...added].sort((a, b) => compareText(a.path, b.path));
}

/** Sorts by name, so that the order does not depend on file names. */
function sorted(schema: ProjectSchema): ProjectSchema {
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
    compareText(a.name, b.name);
  return {
    ...schema,
    models: schema.models.toSorted(byName),
    events: schema.events.toSorted(byName),
    actions: schema.actions.toSorted(byName),
    handlers: schema.handlers.toSorted(byName),
    sagas: schema.sagas.toSorted(byName),
    repositories: schema.repositories.toSorted(byName),
  };
}

/** The first migration of a table. */
interface NewMigration {
  readonly text: string;
  readonly table: string;
}

function emitMigrations(
  schema: ProjectSchema,
  { paths, now }: EmitInput,
  renderer: Renderer,
): ReadonlyMap<string, NewMigration> {
  const existing = new Set(schema.migrations.flatMap((migration) => migration.creates));
  const missing = schema.models.filter((model) => !existing.has(modelNames(model).table));
  const wanted = missing.map((model) => {
    const { table } = modelNames(model);
    return { model, table, title: `create_${table.replace(/[^A-Za-z0-9_-]/g, '_')}`, tables: [table] };
  });
  return new Map(
    nameMigrations(schema.migrations, wanted, now).map(({ model, table, ...named }) => [
      `${paths.migrations}/${named.name}.ts`,
      { text: renderer.render('migration', migrationView(model, named)), table },
    ]),
  );
}
