import type { ObjectType } from '../../../runtime/domain/descriptor.js';
import { modelNames } from '../../schema/model-names.js';
import { camelCase } from '../../schema/naming.js';
import { placeKey } from '../../schema/project-index.js';
import {
  type EventSchema,
  type KeySchema,
  type MigrationFile,
  type ModelSchema,
  storedNameOf,
} from '../../schema/project-schema.js';
import type { Emission } from '../emission.js';
import { declaredFields, type FieldView } from '../field-code.js';
import { FileScope, type ImportView } from '../file-scope.js';
import type { Part } from '../parts.js';
import { literal } from '../print/literal.js';
import { quote, templateText } from '../print/strings.js';
import { addNamedObjects, Responses, type ResponseView } from '../responses.js';
import { descriptorName, FunctionWiring, type RepositoryView } from '../wiring.js';
import { type ActionView, actionView } from './action-view.js';
import { type HeaderView, headerView } from './header-view.js';
import { upcastersText } from './versions-view.js';

/** View of `part.hbs`: events, responses, actions, routes and migrations of one model, or of no model. */
export interface PartView extends HeaderView {
  readonly imports: readonly ImportView[];
  /** Name of the exported part. */
  readonly variable: string;
  /** Whether its actions take arguments that the application supplies. */
  readonly usesCollaborators: boolean;
  /** Name of the model's class; '' for the part of no model, as the next four texts. */
  readonly modelName: string;
  /** Specifier of the model's file, quoted. */
  readonly module: string;
  /** Name of the class, quoted. */
  readonly tag: string;
  /** Type of the values of its keys; '' for a model without keys. */
  readonly keys: string;
  /** Local name of the model's descriptor. */
  readonly descriptor: string;
  readonly events: readonly EventView[];
  readonly responses: readonly ResponseView[];
  readonly actions: readonly ActionView[];
  /** Parameters of the function that creates the actions, and the repositories that they take. */
  readonly parameters: string;
  readonly repositories: readonly RepositoryView[];
  readonly migrations: readonly MigrationTextView[];
}

/** The text of a migration, which compilers do not copy to their output. */
export interface MigrationTextView {
  /** File name without extension, quoted. */
  readonly name: string;
  /** Project-relative path, quoted. */
  readonly file: string;
  /** Lines of the SQL text, safe in a template literal. */
  readonly lines: readonly string[];
}

/** The descriptor of an event. Texts are '' if there is none. */
export interface EventView {
  /** Name of the constant. */
  readonly variable: string;
  /** Stable name, quoted. */
  readonly name: string;
  /** Literal list of earlier names. */
  readonly aliases: string;
  /** Stable name of its model, quoted. */
  readonly model: string;
  /** Local name of the class. */
  readonly class: string;
  /** Version of its payload, if there are older ones, and the call that declares their upcasters. */
  readonly version: string;
  readonly upcasters: string;
  readonly fields: readonly FieldView[];
}

/** A part with what other files import from it. */
export interface EmittedPart {
  /** Project-relative path. */
  readonly file: string;
  readonly view: PartView;
  /** Constants of events, by `placeKey`. */
  readonly events: ReadonlyMap<string, string>;
}

/** Names that the template declares or uses. */
const TAKEN: readonly string[] =
  'Pick actions clock collaborators eventHistory placement repositories result'.split(' ');

/** Builds the views of `part.hbs`. The part of no model also declares the responses of several parts. */
export function partViews(
  emission: Emission,
  { ofModels, others }: { readonly ofModels: readonly Part[]; readonly others: Part },
): readonly EmittedPart[] {
  const shared = sharedResponses(emission, [...ofModels, others]);
  const hasOthers = others.actions.length + others.migrations.length + shared.size > 0;
  const file = partFile(emission, undefined);
  const scope = new FileScope(emission, file, [...TAKEN, 'applicationPart']);
  const responses = new Responses(scope, new Map(), '');
  for (const type of shared) responses.of(type);
  const variables = responses.variables;
  const rest = hasOthers ? [partView(others, scope, responses)] : [];
  const parts = ofModels.map((part) => {
    const own = new FileScope(emission, partFile(emission, part.model), [...TAKEN, variableOf(part.model)]);
    return partView(part, own, new Responses(own, variables, file));
  });
  return [...rest, ...parts];
}

/** Response types that actions of several parts use. */
function sharedResponses({ types }: Emission, parts: readonly Part[]): ReadonlySet<ObjectType> {
  const seen = new Set<ObjectType>();
  const shared = new Set<ObjectType>();
  for (const { actions } of parts) {
    const own = new Set<ObjectType>();
    for (const { route } of actions)
      if (route?.response !== undefined) addNamedObjects(types.named(route.response), own);
    for (const type of own) (seen.has(type) ? shared : seen).add(type);
  }
  return shared;
}

function partFile({ paths }: Emission, model: ModelSchema | undefined): string {
  return `${paths.output}/${model === undefined ? 'application' : modelNames(model).file}.part.ts`;
}

function variableOf(model: ModelSchema | undefined): string {
  return `${model === undefined ? 'application' : modelNames(model).variable}Part`;
}

function partView(
  { model, events, actions, migrations }: Part,
  scope: FileScope,
  responses: Responses,
): EmittedPart {
  const { emission } = scope;
  const wiring = new FunctionWiring(scope);
  const context = { scope, responses, wiring };
  const file = partFile(emission, model);
  const usesCollaborators = actions.some(({ collaborators }) =>
    collaborators.some((each) => each.wiring.kind === 'supplied'),
  );
  if (usesCollaborators)
    scope.type({ kind: 'file', file: `${emission.paths.output}/application.ts`, name: 'Collaborators' });
  if (actions.length > 0) for (const name of ['routesOf', 'wireActions']) scope.runtimeValue(name);
  scope.runtimeType('ApplicationPart');
  const variables = new Map(
    events.map((event) => [placeKey(event), scope.reserve(camelCase(event.name))] as const),
  );
  const eventViews = events.map((event) => eventView(event, variables.get(placeKey(event)) ?? '', scope));
  const view = {
    ...headerView(model?.file ?? emission.paths.source),
    variable: variableOf(model),
    ...modelView(model, scope),
    events: eventViews,
    actions: actions.map((action) => actionView(action, context)),
    usesCollaborators,
    parameters: wiring.parameters,
    repositories: wiring.repositories,
    responses: responses.views,
    migrations: migrations.map((migration) => migrationTextView(migration, emission)),
  };
  return { file, view: { ...view, imports: scope.statements() }, events: variables };
}

function modelView(
  model: ModelSchema | undefined,
  scope: FileScope,
): Pick<PartView, 'modelName' | 'module' | 'tag' | 'keys' | 'descriptor'> {
  if (model === undefined) return { modelName: '', module: '', tag: '', keys: '', descriptor: '' };
  const { name, file, location, keys = [] } = model;
  scope.runtimeType('modelType');
  if (keys.length > 0) scope.runtimeType('modelKeys');
  return {
    modelName: scope.at(location, name),
    module: quote(scope.specifier(file)),
    tag: scope.at(location, quote(name)),
    keys: keys.map((key) => keyTypeText(name, key)).join(' | '),
    descriptor: scope.at(location, descriptorName(model, scope)),
  };
}

function keyTypeText(model: string, { fields }: KeySchema): string {
  return `Pick<${model}, ${fields.map(({ value }) => quote(value)).join(' | ')}>`;
}

function eventView(event: EventSchema, variable: string, scope: FileScope): EventView {
  const { name, aliases, model, file, location, version } = event;
  const eventClass = scope.value({ kind: 'file', file, name });
  const fields = declaredFields(event.fields, { scope, use: 'stored' });
  scope.runtimeType('EventDescriptor');
  if (fields.length > 0) scope.runtimeValue('namedFields');
  const at = (text: string): string => scope.at(location, text);
  return {
    variable: at(variable),
    name: at(quote(storedNameOf(event))),
    aliases: aliases === undefined ? '' : literal(aliases),
    model: quote(storedNameOf(model)),
    class: at(eventClass),
    version: version === undefined ? '' : String(version),
    upcasters: upcastersText(version, { of: 'event', className: name }, eventClass, scope),
    fields,
  };
}

function migrationTextView({ name, file, up }: MigrationFile, emission: Emission): MigrationTextView {
  const isPresent = emission.schema.migrations.some((present) => present.file === file);
  const lines = up.split('\n').map((line, index) => {
    const text = templateText(line);
    return isPresent ? emission.at({ file, line: index + 1, column: 1 }, text) : text;
  });
  return { name: quote(name), file: quote(file), lines };
}
