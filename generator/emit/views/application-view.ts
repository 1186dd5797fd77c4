import { camelCase } from '../../schema/naming.js';
import { placeKey, projectIndex } from '../../schema/project-index.js';
import type { ActionSchema, EventSchema, KeySchema } from '../../schema/project-schema.js';
import { CODEGEN_VERSION } from '../codegen-version.js';
import type { Emission } from '../emission.js';
import { fieldDescriptors } from '../field-type.js';
import { paramsSchema } from '../json-schema.js';
import { at, type Code, Expression, LINE_WIDTH, printCall } from '../print/code.js';
import { Imports } from '../print/imports.js';
import { quote } from '../print/strings.js';
import { ResponseFields, type ResponseView } from '../response-fields.js';
import type { RoutedAction } from '../routes.js';
import { upcastersCode } from '../upcasters-code.js';
import { type CollaboratorView, className, type RepositoryView, WiringPrinter } from '../wiring-printer.js';
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
  /** Local name of the symbol under which a model has its keys, or ''. */
  readonly modelKeys: string;
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
  /** True if there is an event handler. */
  readonly hasHandlers: boolean;
  /** Events that handlers name, each with its local name and printed descriptor. */
  readonly handledEvents: readonly HandledEventView[];
  /** Parameters of `wireHandlers`, repositories that handlers take, and the printed list of descriptors. */
  readonly handlerParameters: string;
  readonly handlerRepositories: readonly RepositoryView[];
  readonly handlers: string;
  /** True if there is a saga. */
  readonly hasSagas: boolean;
  /** Printed list of sagas. */
  readonly sagas: string;
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
  /** True if it has natural keys. */
  readonly hasKeys: boolean;
  /** Type of a value of one of its keys, or ''. */
  readonly keys: string;
}

/** The descriptor of one event that handlers name. */
export interface HandledEventView {
  /** Local variable. */
  readonly variable: string;
  /** Printed descriptor. */
  readonly descriptor: string;
}

/** Where the view is emitted to and what stands beside it. */
export interface ApplicationPlace {
  readonly file: string;
  readonly outputFolder: string;
  readonly sourceFolder: string;
  /** All migrations, the new ones included, sorted by path. */
  readonly migrations: readonly MigrationPlace[];
}

/** Where a migration can be imported from. */
export interface MigrationPlace {
  /** Project-relative path of the migration's own file. */
  readonly path: string;
  /** Project-relative path of the module that exports it. */
  readonly file: string;
  /** What it is exported as. */
  readonly name: string;
}

/** Names that the template declares or uses. */
const TAKEN: readonly string[] = [
  'Collaborators',
  'application',
  'clock',
  'collaborators',
  'eventHistory',
  'placement',
  'events',
  'repositories',
  'result',
  'routes',
  'ConstructorParameters',
  'Record',
  'Pick',
];

/** Decides everything that `application.hbs` writes. */
export function applicationView(emission: Emission, place: ApplicationPlace): ApplicationView {
  const { schema } = emission;
  const imports = applicationImports(place);
  const responses = new ResponseFields(imports, emission);
  const wiring = new WiringPrinter(emission, (model) => modelFile(place.outputFolder, model), imports, place);
  const routes = emission.routes.map((each) => routeCode(emission, each, imports, responses));
  const collaborators = wiring.collaborators();
  const handled = handledEvents(emission, imports, place.outputFolder);
  const view = {
    ...headerView(place.sourceFolder),
    applicationDefinition: imports.runtimeType('ApplicationDefinition'),
    tags: schema.models.map(({ name, file, location, keys = [] }) => ({
      module: quote(imports.specifier(file)),
      name: emission.at(location, name),
      tag: quote(name),
      hasKeys: keys.length > 0,
      keys: keys.map((key) => keyTypeText(name, key)).join(' | '),
    })),
    modelKeys: schema.models.some(({ keys }) => keys !== undefined) ? imports.runtimeType('modelKeys') : '',
    modelType: schema.models.length > 0 ? imports.runtimeType('modelType') : '',
    eventDescriptor: imports.runtimeType('EventDescriptor'),
    routeDescriptor: imports.runtimeType('RouteDescriptor'),
    hasCollaborators: collaborators.length > 0,
    collaborators,
    events: printList(
      emission,
      'events',
      imports.runtimeType('EventDescriptor'),
      schema.events.map(
        (event) =>
          handled.get(placeKey(event))?.name ??
          emission.part(eventCode(emission, event, imports, place.outputFolder), 2, ','.length),
      ),
    ),
    responses: responses.views(),
    fieldDescriptor: responses.views().length > 0 ? imports.runtimeType('FieldDescriptor') : '',
    routes: printList(emission, 'routes', imports.runtimeType('RouteDescriptor'), routes),
    codegenVersion: CODEGEN_VERSION,
    models: emission.print(
      schema.models.map((model) => at(model.location, wiring.descriptor(model))),
      2,
      'models: ,'.length,
    ),
    actions: emission.print(
      schema.actions.map((action) => actionPart(emission, wiring, action)),
      4,
      'return ;'.length,
    ),
    migrations: emission.print(migrationNames(place.migrations, imports), 2, 'migrations: ,'.length),
    repositories: wiring.repositories(),
    wireParameters: wiring.parameters(),
  };
  const handlers = handlersView(emission, wiring, handled);
  const sagas = sagasView(emission, wiring, imports);
  return { ...view, ...handlers, ...sagas, imports: imports.statements() };
}

/** Imports of the file, with the names that nothing else in it may have. */
export function applicationImports({
  file,
  outputFolder,
}: Pick<ApplicationPlace, 'file' | 'outputFolder'>): Imports {
  const imports = new Imports(file, TAKEN);
  // Before anything else, so that nothing else is called so.
  imports.value({ kind: 'file', file: `${outputFolder}/openapi.ts`, name: 'openApi' });
  return imports;
}

/** The element of one action in the list of actions. */
export function actionPart(emission: Emission, wiring: WiringPrinter, action: ActionSchema): Code {
  return emission.part(wiring.action(action), 6, ','.length);
}

function keyTypeText(model: string, { fields }: KeySchema): string {
  return `Pick<${model}, ${fields.map(({ value }) => quote(value)).join(' | ')}>`;
}

interface HandledEvent {
  readonly name: Expression;
  readonly descriptor: string;
}

/** Events that handlers name have a variable of their own, so that both lists mean one descriptor. */
function handledEvents(
  emission: Emission,
  imports: Imports,
  outputFolder: string,
): ReadonlyMap<string, HandledEvent> {
  const named = new Set(emission.schema.handlers.flatMap(({ events }) => events.map(placeKey)));
  return new Map(
    emission.schema.events
      .filter((event) => named.has(placeKey(event)))
      .map((event) => {
        const variable = imports.reserve(camelCase(event.name));
        const lead = `const ${variable}: EventDescriptor = ;`.length;
        const descriptor = emission.print(eventCode(emission, event, imports, outputFolder), 0, lead);
        return [placeKey(event), { name: new Expression(variable), descriptor }] as const;
      }),
  );
}

function handlersView(
  { schema, print }: Emission,
  wiring: WiringPrinter,
  handled: ReadonlyMap<string, HandledEvent>,
): Pick<
  ApplicationView,
  'hasHandlers' | 'handledEvents' | 'handlerParameters' | 'handlerRepositories' | 'handlers'
> {
  wiring.next();
  const handlers = schema.handlers.map((handler) =>
    wiring.handler(
      handler,
      handler.events.flatMap((event) => handled.get(placeKey(event))?.name ?? []),
    ),
  );
  return {
    hasHandlers: handlers.length > 0,
    handledEvents: [...handled.values()].map(({ name, descriptor }) => ({ variable: name.text, descriptor })),
    handlers: print(handlers, 4, 'return ;'.length),
    handlerParameters: wiring.parameters(),
    handlerRepositories: wiring.repositories(),
  };
}

function sagasView(
  { schema, print }: Emission,
  wiring: WiringPrinter,
  imports: Imports,
): Pick<ApplicationView, 'hasSagas' | 'sagas'> {
  const { models } = projectIndex(schema);
  const sagas = schema.sagas.map(({ className: name, file, state, location }) => {
    const model = state === undefined ? undefined : models.get(state.name);
    if (model === undefined) throw new Error(`${name} has no state: the checks let it pass`);
    const sagaClass = imports.value({ kind: 'file', file, name });
    const args = [wiring.descriptor(model).text, `() => new ${sagaClass}()`];
    const call = printCall(imports.runtimeValue('defineSaga'), args, { indent: 4, lead: 0 });
    return at(location, new Expression(call));
  });
  return { hasSagas: sagas.length > 0, sagas: print(sagas, 2, 'sagas: ,'.length) };
}

function eventCode(
  { isSharded }: Emission,
  event: EventSchema,
  imports: Imports,
  outputFolder: string,
): Code {
  const eventClass = imports.value({ kind: 'file', file: event.file, name: event.name });
  const place = { classText: eventClass, outputFolder, imports };
  return at(event.location, {
    name: event.name,
    model: event.model.name,
    eventClass: new Expression(`() => ${eventClass}`),
    version: event.version,
    upcasters: upcastersCode(event.version, { of: 'event', className: event.name }, place),
    fields: fieldDescriptors(event.fields, isSharded),
  });
}

/** The element of one action in the list of routes. */
export function routeCode(
  emission: Emission,
  { action, route, path, query, body, status }: RoutedAction,
  imports: Imports,
  responses: ResponseFields,
): Code {
  const { isSharded } = emission;
  const descriptor: Code = {
    method: route.method,
    path: route.path,
    action: new Expression(className(action, imports)),
    operation: action.className,
    status,
    pathSchema: paramsSchema(path, isSharded),
    querySchema: paramsSchema(query, isSharded),
    bodySchema: body.length === 0 ? undefined : paramsSchema(body, isSharded),
    response: responseCode(route, imports, responses),
    location: route.locationHeader?.value,
    etag: route.etag?.value,
    ifMatch: route.ifMatch?.value,
    bodyBytes: route.bodyBytes,
    timeoutMs: route.timeoutMs,
  };
  const defineRoute = imports.runtimeValue('defineRoute');
  const call = new Expression(`${defineRoute}(${emission.print(descriptor, 2, LINE_WIDTH)})`);
  return at(route.location, call);
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

function migrationNames(places: readonly MigrationPlace[], imports: Imports): readonly Code[] {
  return places.map(({ path, file, name }) => {
    const number = /(\d+)_/.exec(path.slice(path.lastIndexOf('/') + 1))?.[1] ?? '';
    return new Expression(imports.value({ kind: 'file', file, name }, `migration${number}`));
  });
}

function printList(emission: Emission, variable: string, type: string, items: readonly Code[]): string {
  return emission.print(items, 0, `const ${variable}: readonly ${type}[] = ;`.length);
}
