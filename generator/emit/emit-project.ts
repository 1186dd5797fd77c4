import { compareText } from '../diagnostics.js';
import type { EmittedFiles } from '../schema/emitted-files.js';
import { modelNames } from '../schema/model-names.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { ModelSchema, ProjectSchema } from '../schema/project-schema.js';
import { Emission } from './emission.js';
import { emitExtras } from './emit-extras.js';
import type { EmitInput } from './emit-input.js';
import { nameMigrations, type WantedMigration } from './migration-names.js';
import { type ClientPart, clientPartText } from './own-templates.js';
import { Marks, type TracedText } from './print/marks.js';
import { Renderer } from './render.js';
import { applicationView } from './views/application-view.js';
import { type ClientPartView, clientFiles, clientView } from './views/client-view.js';
import { headerView } from './views/header-view.js';
import { migrationView } from './views/migration-view.js';
import { modelFile, modelView } from './views/model-view.js';
import { serverView } from './views/server-view.js';
import { sqlMigrationsView } from './views/sql-migrations-view.js';
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
  const emission = new Emission(schema, marks);
  const migrations = emitMigrations(schema, input, renderer);
  const file = (name: string): string => `${paths.output}/${name}.ts`;
  const texts = file('sql-migrations');
  const sqlMigrations = sqlMigrationsView(emission, texts, paths.source);
  const modules = schema.migrations.filter(({ sql }) => sql === undefined).map((each) => each.file);
  const migrationPlaces = [
    ...[...modules, ...migrations.keys()].map((path) => ({ path, file: path, name: 'migration' })),
    ...sqlMigrations.migrations.map(({ path, variable }) => ({ path, file: texts, name: variable })),
  ].sort((a, b) => compareText(a.path, b.path));
  const generated = new Map(modelFiles(input, schema.models, emission, renderer));
  const place = {
    file: file('application'),
    outputFolder: paths.output,
    sourceFolder: paths.source,
    api: { title, version },
    migrations: migrationPlaces,
  };
  generated.set(place.file, renderer.own('application')(applicationView(emission, place)));
  if (sqlMigrations.migrations.length > 0)
    generated.set(texts, renderer.own('sql-migrations')(sqlMigrations));
  const { lockedTypes = [] } = input;
  if (lockedTypes.length > 0)
    generated.set(file('versions'), renderer.own('versions')(versionsView(lockedTypes, place)));
  generated.set(file('server'), renderer.own('server')(serverView(file('server'), place.file, paths.source)));
  for (const [path, text] of emitClient(emission, paths, renderer)) generated.set(path, text);
  for (const [path, text] of emitExtras({ ...input, schema }, renderer, generated)) {
    generated.set(path, text);
  }
  return { generated, migrations };
}

/** Returns the files of the client; empty if the project has none. */
function emitClient(
  emission: Emission,
  { client: folder, source }: ProjectPaths,
  renderer: Renderer,
): ReadonlyMap<string, string> {
  if (folder === undefined) return new Map();
  const files = clientFiles(folder);
  const view = clientView(emission, files, source);
  const part = (name: ClientPart): readonly [file: string, text: string] => {
    const partView: ClientPartView = { ...headerView(source), text: clientPartText(name) };
    return [`${folder}/${name}.ts`, renderer.own('client-part')(partView)];
  };
  return new Map([
    [files.client, renderer.own('client')(view)],
    part('client-errors'),
    part('client-runtime'),
    ...(view.hasStreams ? [part('client-stream')] : []),
  ]);
}

function modelFiles(
  { paths }: EmitInput,
  models: readonly ModelSchema[],
  emission: Emission,
  renderer: Renderer,
): ReadonlyMap<string, string> {
  const model = renderer.own('model');
  return new Map(
    models.map((each) => {
      const path = modelFile(paths.output, each);
      return [path, emission.at(each.location, model(modelView(emission, each, path)))];
    }),
  );
}

/** Sorts by name, so that the order does not depend on file names. */
function sorted(schema: ProjectSchema): ProjectSchema {
  return {
    models: [...schema.models].sort((a, b) => compareText(a.name, b.name)),
    events: [...schema.events].sort((a, b) => compareText(a.name, b.name)),
    actions: [...schema.actions].sort((a, b) => compareText(a.name, b.name)),
    handlers: [...schema.handlers].sort((a, b) => compareText(a.name, b.name)),
    sagas: [...schema.sagas].sort((a, b) => compareText(a.name, b.name)),
    repositories: [...schema.repositories].sort((a, b) => compareText(a.name, b.name)),
    refusedModels: schema.refusedModels,
    migrations: schema.migrations,
  };
}

function emitMigrations(
  schema: ProjectSchema,
  { paths, now }: EmitInput,
  renderer: Renderer,
): ReadonlyMap<string, string> {
  const existing = new Set(schema.migrations.flatMap((migration) => migration.creates));
  const missing = schema.models.filter((model) => !existing.has(modelNames(model).table));
  const template = renderer.own('migration');
  const names = nameMigrations(
    schema.migrations.map(({ name }) => name),
    missing.map((model) => creation(modelNames(model).table)),
    now,
  );
  return new Map(
    names.flatMap((named, index) => {
      const model = missing[index];
      if (model === undefined) return [];
      return [[`${paths.migrations}/${named.name}.ts`, template(migrationView(model, named))] as const];
    }),
  );
}

function creation(table: string): WantedMigration {
  return { title: `create_${table.replace(/[^A-Za-z0-9_-]/g, '_')}`, tables: [table] };
}
