import { modelNames } from '../../schema/model-names.js';
import { camelCase } from '../../schema/naming.js';
import type {
  ActionSchema,
  CollaboratorSchema,
  EventSchema,
  ModelSchema,
  ProjectSchema,
  SuppliedType,
  Wiring,
} from '../../schema/project-schema.js';
import { CODEGEN_VERSION } from '../codegen-version.js';
import { fieldDescriptors, flags, plainFieldType, type ShardedModels, shardedModels } from '../field-type.js';
import { paramsSchema } from '../json-schema.js';
import { type Code, Expression, LINE_WIDTH, printCall, printCode } from '../print/code.js';
import { Imports } from '../print/imports.js';
import { quote } from '../print/strings.js';
import { ResponseFields, type ResponseView } from '../response-fields.js';
import { type RoutedAction, routedActions } from '../routes.js';
import { access } from '../type-text.js';
import { type HeaderView, headerView } from './header-view.js';
import { modelFile } from './model-view.js';

/** View of `application.hbs`: the whole application as data and constructor wiring. */
export interface ApplicationView extends HeaderView {
  /** Import statements, complete. */
  readonly imports: readonly string[];
  /** Local names of what the runtime provides. */
  readonly applicationDefinition: string;
  readonly eventDescriptor: string;
  readonly routeDescriptor: string;
  readonly fieldDescriptor: string;
  readonly modelType: string;
  /** One augmentation per model. It stands here, because a model's own file must not import one of itself. */
  readonly tags: readonly TagView[];
  /** True if a constructor takes something that the application supplies. */
  readonly hasCollaborators: boolean;
  readonly collaborators: readonly CollaboratorView[];
  /** Printed list of event descriptors. */
  readonly events: string;
  /** Fields of response classes. */
  readonly responses: readonly ResponseView[];
  /** Printed list of route descriptors. */
  readonly routes: string;
  /** Version of the contract that the code is emitted for. */
  readonly codegenVersion: number;
  /** Printed list of model descriptors. */
  readonly models: string;
  /** Parameters of `wire`, those that it uses. */
  readonly wireParameters: string;
  /** Repositories that actions take. */
  readonly repositories: readonly RepositoryView[];
  /** Printed list of action descriptors. */
  readonly actions: string;
  /** Printed list of migrations. */
  readonly migrations: string;
}

/** What tells one model's type from that of another model of the same shape. */
export interface TagView {
  /** Specifier of the model's file, quoted. */
  readonly module: string;
  /** Name of the class. */
  readonly name: string;
  /** Its name, quoted. */
  readonly tag: string;
}

/** One member of `Collaborators`. */
export interface CollaboratorView {
  /** With a question mark if no constructor insists on it. */
  readonly name: string;
  readonly type: string;
}

/** One repository that `wire` makes. */
export interface RepositoryView {
  /** Local variable. */
  readonly variable: string;
  /** Local name of its class. */
  readonly class: string;
  /** Local name of its model's descriptor. */
  readonly descriptor: string;
}

/** Where the view is emitted to and what stands beside it. */
export interface ApplicationPlace {
  readonly file: string;
  readonly outputFolder: string;
  readonly sourceFolder: string;
  /** Project-relative paths of all migrations, the new ones included, sorted. */
  readonly migrations: readonly string[];
}

/** Names that the template declares or uses. */
const TAKEN: readonly string[] = [
  'Collaborators',
  'application',
  'clock',
  'collaborators',
  'eventHistory',
  'events',
  'repositories',
  'result',
  'routes',
  'ConstructorParameters',
  'Record',
];

/** Decides everything that `application.hbs` writes. */
export function applicationView(schema: ProjectSchema, place: ApplicationPlace): ApplicationView {
  const imports = new Imports(place.file, TAKEN);
  // Before anything else, so that nothing else is called so.
  imports.value({ kind: 'file', file: `${place.outputFolder}/openapi.ts`, name: 'openApi' });
  const isSharded = shardedModels(schema.models);
  const responses = new ResponseFields(imports, isSharded);
  const wiring = new WiringPrinter(schema, place, imports);
  const routes = routedActions(schema).map((each) => routeCode(each, imports, isSharded, responses));
  const collaborators = wiring.collaborators();
  const view = {
    ...headerView(place.sourceFolder),
    applicationDefinition: imports.runtimeType('ApplicationDefinition'),
    tags: schema.models.map(({ name, file }) => ({
      module: quote(imports.specifier(file)),
      name,
      tag: quote(name),
    })),
    modelType: schema.models.length > 0 ? imports.runtimeType('modelType') : '',
    eventDescriptor: imports.runtimeType('EventDescriptor'),
    routeDescriptor: imports.runtimeType('RouteDescriptor'),
    hasCollaborators: collaborators.length > 0,
    collaborators,
    events: printList(
      'events',
      imports.runtimeType('EventDescriptor'),
      schema.events.map((event) => eventCode(event, imports, isSharded)),
    ),
    responses: responses.views(),
    fieldDescriptor: responses.views().length > 0 ? imports.runtimeType('FieldDescriptor') : '',
    routes: printList('routes', imports.runtimeType('RouteDescriptor'), routes),
    codegenVersion: CODEGEN_VERSION,
    models: printCode(
      schema.models.map((model) => wiring.descriptor(model)),
      2,
      'models: ,'.length,
    ),
    actions: printCode(
      schema.actions.map((action) => wiring.action(action, isSharded)),
      4,
      'return ;'.length,
    ),
    migrations: printCode(migrationNames(place.migrations, imports), 2, 'migrations: ,'.length),
    repositories: wiring.repositories(),
    wireParameters: wiring.parameters(),
  };
  return { ...view, imports: imports.statements() };
}

/** Prints constructor wiring and remembers what it needs. */
class WiringPrinter {
  readonly #schema: ProjectSchema;
  readonly #place: ApplicationPlace;
  readonly #imports: Imports;
  readonly #repositories = new Map<string, RepositoryView>();
  readonly #used = new Set<string>();

  constructor(schema: ProjectSchema, place: ApplicationPlace, imports: Imports) {
    this.#schema = schema;
    this.#place = place;
    this.#imports = imports;
  }

  descriptor(model: ModelSchema): Expression {
    const file = modelFile(this.#place.outputFolder, model);
    return new Expression(this.#imports.value({ kind: 'file', file, name: modelNames(model).descriptor }));
  }

  action(action: ActionSchema, isSharded: ShardedModels): Code {
    const actionClass = actionName(action, this.#imports);
    const args = action.collaborators.map((collaborator) => this.#argument(collaborator));
    return {
      name: action.name,
      actionClass: new Expression(actionClass),
      params: fieldDescriptors(action.params, isSharded),
      result: resultCode(action, isSharded),
      create: new Expression(
        printCall(`() => new ${actionClass}`, args, { indent: 8, lead: 'create: ,'.length }),
      ),
    };
  }

  collaborators(): readonly CollaboratorView[] {
    const types = new Map<string, string>();
    const required = new Set<string>();
    for (const action of this.#schema.actions) {
      for (const { name, wiring } of action.collaborators) {
        if (wiring.kind !== 'supplied') continue;
        if (!wiring.optional) required.add(name);
        if (!types.has(name)) types.set(name, this.#typeText(action, wiring.type));
      }
    }
    return [...types].map(([name, type]) => ({
      name: required.has(name) ? name : `${name}?`,
      type: required.has(name) ? type : `${type} | undefined`,
    }));
  }

  repositories(): readonly RepositoryView[] {
    return [...this.#repositories.values()];
  }

  parameters(): string {
    const context = ['clock', 'repositories', 'eventHistory'].filter((name) => this.#used.has(name));
    const first = context.length === 0 ? '_context' : `{ ${context.join(', ')} }`;
    return this.#used.has('collaborators') ? `${first}, collaborators` : first;
  }

  #argument({ name, wiring }: CollaboratorSchema): string {
    switch (wiring.kind) {
      case 'clock':
        return this.#use('clock');
      case 'event-history':
        return this.#use('eventHistory');
      case 'supplied':
        return access(this.#use('collaborators'), name);
      case 'repository':
      case 'default-repository':
        return this.#repository(wiring);
    }
  }

  #use(name: string): string {
    this.#used.add(name);
    return name;
  }

  #repository({ name, file, kind }: Extract<Wiring, { file: string }>): string {
    this.#use('repositories');
    const key = `${file}#${name}`;
    const known = this.#repositories.get(key);
    if (known !== undefined) return known.variable;
    const model =
      kind === 'repository'
        ? this.#modelOf(
            this.#schema.repositories.find((each) => each.name === name && each.file === file)?.model.name,
          )
        : this.#schema.models.find((each) => modelNames(each).repository === name);
    if (model === undefined) throw new Error(`${name} has no model: the checks let it pass`);
    const view = {
      variable: this.#imports.reserve(camelCase(name)),
      class: this.#imports.value({ kind: 'file', file, name }),
      descriptor: this.descriptor(model).text,
    };
    this.#repositories.set(key, view);
    return view.variable;
  }

  #modelOf(name: string | undefined): ModelSchema | undefined {
    return this.#schema.models.find((model) => model.name === name);
  }

  #typeText(action: ActionSchema, type: SuppliedType): string {
    switch (type.kind) {
      case 'named':
        return this.#imports.type(type.reference);
      case 'keyword':
        return type.text;
      case 'parameter':
        return `ConstructorParameters<typeof ${actionName(action, this.#imports)}>[${type.index}]`;
    }
  }
}

function actionName(action: ActionSchema, imports: Imports): string {
  return imports.value({ kind: 'file', file: action.file, name: action.className });
}

function resultCode(
  { result, resultOptional, resultNullable }: ActionSchema,
  isSharded: ShardedModels,
): Code {
  if (isOpaque(result)) return { kind: 'opaque' };
  if (result.kind === 'void') return { kind: 'void' };
  const allowed = flags({ optional: resultOptional, nullable: resultNullable });
  if (result.kind !== 'model') return { kind: 'field', type: plainFieldType(result, isSharded), ...allowed };
  // A model that may be missing has no row to be kept as.
  return resultOptional || resultNullable ? { kind: 'opaque' } : { kind: 'model', model: result.model.name };
}

function isOpaque(type: ActionSchema['result']): boolean {
  if (type.kind === 'list') return type.of.kind === 'model' || isOpaque(type.of);
  if (type.kind === 'object')
    return (
      type.fields.some(({ type: { kind } }) => kind === 'model' || kind === 'void') ||
      type.fields.some((field) => isOpaque(field.type))
    );
  return type.kind === 'unsupported';
}

function eventCode(event: EventSchema, imports: Imports, isSharded: ShardedModels): Code {
  const eventClass = imports.value({ kind: 'file', file: event.file, name: event.name });
  return {
    name: event.name,
    model: event.model.name,
    eventClass: new Expression(`() => ${eventClass}`),
    version: event.version,
    fields: fieldDescriptors(event.fields, isSharded),
  };
}

function routeCode(
  { action, route, path, query, body, status }: RoutedAction,
  imports: Imports,
  isSharded: ShardedModels,
  responses: ResponseFields,
): Code {
  const descriptor: Code = {
    method: route.method,
    path: route.path,
    action: new Expression(actionName(action, imports)),
    operation: action.className,
    status,
    pathSchema: paramsSchema(path, isSharded),
    querySchema: paramsSchema(query, isSharded),
    bodySchema: body.length === 0 ? undefined : paramsSchema(body, isSharded),
    response: responseCode(route, imports, responses),
    location: route.locationHeader?.value,
    etag: route.etag?.value,
    ifMatch: route.ifMatch?.value,
  };
  const defineRoute = imports.runtimeValue('defineRoute');
  return new Expression(`${defineRoute}(${printCode(descriptor, 2, LINE_WIDTH)})`);
}

function responseCode(
  route: RoutedAction['route'],
  imports: Imports,
  responses: ResponseFields,
): Code | undefined {
  if (route.response === undefined) return undefined;
  const { file, name } = route.response;
  const mapper = imports.value({ kind: 'file', file, name });
  return {
    map: new Expression(`(result) => ${mapper}.from(result)`),
    fields: responses.of(route.response),
  };
}

function migrationNames(files: readonly string[], imports: Imports): readonly Code[] {
  return files.map((file) => {
    const number = /(\d+)_/.exec(file.slice(file.lastIndexOf('/') + 1))?.[1] ?? '';
    return new Expression(imports.value({ kind: 'file', file, name: 'migration' }, `migration${number}`));
  });
}

function printList(variable: string, type: string, items: readonly Code[]): string {
  return printCode(items, 0, `const ${variable}: readonly ${type}[] = ;`.length);
}
