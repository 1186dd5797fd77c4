import { compareText } from '../diagnostics.js';
import type { EmittedFiles } from '../schema/emitted-files.js';
import type { LockedType } from '../schema/locked-type.js';
import { modelNames } from '../schema/model-names.js';
import type { ProjectPaths } from '../schema/paths.js';
import type { MigrationFile, ProjectSchema } from '../schema/project-schema.js';
import { clientView } from './client/client-view.js';
import { Emission } from './emission.js';
import { nameMigration } from './migration-names.js';
import type { TemplateName } from './own-templates.js';
import { partsOf } from './parts.js';
import { Marks, type TracedText } from './print/marks.js';
import { Renderer, type UserTemplates } from './render.js';
import { applicationView } from './views/application-view.js';
import { headerView } from './views/header-view.js';
import { migrationView } from './views/migration-view.js';
import { modelFile, modelView } from './views/model-view.js';
import { partViews } from './views/part-view.js';
import { versionsView } from './views/versions-view.js';

/** The input of one run. */
export interface EmitInput {
  readonly schema: ProjectSchema;
  readonly paths: ProjectPaths;
  /** Title and version of the API document. */
  readonly title: string;
  readonly version: string;
  /** The time of the run, after which new migrations are named. */
  readonly now: Date;
  /** Default: this package's templates only. */
  readonly templates?: UserTemplates;
  /** Events and params whose stored shape has more than one version. Default: none. */
  readonly lockedTypes?: readonly LockedType[];
}

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
  const created = createTables(schema, input, renderer);
  const file = (name: string): string => `${paths.output}/${name}.ts`;
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
  const parts = partViews(emission, partsOf(emission, [...schema.migrations, ...created]));
  for (const part of parts) add(part.file, 'part', part.view);
  const application = file('application');
  add(application, 'application', applicationView(emission, application, parts, { title, version }));
  const { lockedTypes = [] } = input;
  if (lockedTypes.length > 0) add(file('versions'), 'versions', versionsView(emission, lockedTypes));
  add(file('server'), 'server', headerView(paths.source));
  if (paths.client !== undefined) {
    const client = `${paths.client}/client.ts`;
    add(client, 'client', clientView(emission, client));
  }
  return { generated, migrations: new Map(created.map(({ file: path, up }) => [path, up])) };
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

/** Returns the first migration of each table that no migration creates, sorted by name. */
function createTables(
  schema: ProjectSchema,
  { paths, now }: EmitInput,
  renderer: Renderer,
): readonly MigrationFile[] {
  const existing = new Set<string>();
  for (const { creates, drops } of schema.migrations) {
    for (const table of drops) existing.delete(table);
    for (const table of creates) existing.add(table);
  }
  const missing = schema.models.filter((model) => !existing.has(modelNames(model).table));
  let last = schema.migrations.at(-1)?.name;
  return missing.map((model, index) => {
    const { table } = modelNames(model);
    const title = `create_${table.replace(/[^A-Za-z0-9_-]/g, '_')}`;
    const time = new Date(now.getTime() + index * 1_000);
    const { name, header } = nameMigration(last, { title, tables: [table] }, time);
    last = name;
    const up = renderer.render('migration', migrationView(model, header));
    return { file: `${paths.migrations}/${name}.sql`, name, up, creates: [table], drops: [] };
  });
}
