import type { ApiInfo } from '../../../runtime/openapi/document.js';
import { camelCase } from '../../schema/naming.js';
import { placeKey, projectIndex } from '../../schema/project-index.js';
import { type EventSchema, type KeySchema, storedNameOf } from '../../schema/project-schema.js';
import { type ActionPrinting, actionCode } from '../action-code.js';
import { CODEGEN_VERSION } from '../codegen-version.js';
import type { Emission } from '../emission.js';
import { declaredFieldsCode } from '../field-code.js';
import { at, Call, type Code, Expression, LINE_WIDTH, Members, printCall } from '../print/code.js';
import { Imports } from '../print/imports.js';
import { quote } from '../print/strings.js';
import { ResponseTypes, type ResponseView } from '../response-types.js';
import { upcastersCode } from '../upcasters-code.js';
import { type CollaboratorView, type RepositoryView, WiringPrinter } from '../wiring-printer.js';
import { type HeaderView, headerView } from './header-view.js';
import { modelFile } from './model-view.js';

/** View of `application.hbs`: the application as data, and calls of constructors. */
export interface ApplicationView extends HeaderView {
  /** Import statements, complete. */
  readonly imports: readonly string[];
  /** Local names of the runtime's exports. */
  readonly applicationDefinition: string;
  readonly eventDescriptor: string;
  readonly routesOf: string;
  readonly wireActions: string;
  readonly modelType: string;
  /** Local name of the symbol that holds a model's keys, or ''. */
  readonly modelKeys: string;
  /** One augmentation per model. A model's own file must not import one of itself. */
  readonly tags: readonly TagView[];
  /** True if a constructor takes a value that the application supplies. */
  readonly hasCollaborators: boolean;
  readonly collaborators: readonly CollaboratorView[];
  /** Printed list of event descriptors. */
  readonly events: string;
  readonly responses: readonly ResponseView[];
  /** Printed object of declared actions. */
  readonly actions: string;
  /** Printed title and version of the API document. */
  readonly api: string;
  /** Version of the contract between emitted code and runtime. */
  readonly codegenVersion: number;
  /** Printed list of model descriptors. */
  readonly models: string;
  /** Parameters that `wire` uses. */
  readonly wireParameters: string;
  /** Repositories that actions take. */
  readonly repositories: readonly RepositoryView[];
  /** Printed object of functions that create actions. */
  readonly wiring: string;
  readonly hasHandlers: boolean;
  /** Events that handlers name. */
  readonly handledEvents: readonly HandledEventView[];
  /** Parameters of `wireHandlers`, repositories that handlers take, and the printed list of descriptors. */
  readonly handlerParameters: string;
  readonly handlerRepositories: readonly RepositoryView[];
  readonly handlers: string;
  readonly hasSagas: boolean;
  /** Printed list of sagas. */
  readonly sagas: string;
  /** Printed list of migrations. */
  readonly migrations: string;
}

/** Distinguishes the types of two models of the same shape. */
export interface TagView {
  /** Specifier of the model's file, quoted. */
  readonly module: string;
  /** Name of the class. */
  readonly name: string;
  /** Name of the class as a literal. */
  readonly tag: string;
  readonly hasKeys: boolean;
  /** Type of the values of its keys, or ''. */
  readonly keys: string;
}

/** The descriptor of an event that handlers name. */
export interface HandledEventView {
  /** Local variable. */
  readonly variable: string;
  /** Printed descriptor. */
  readonly descriptor: string;
}

/** Paths of the emitted application and of what it imports. */
export interface ApplicationPlace {
  readonly file: string;
  readonly outputFolder: string;
  readonly sourceFolder: string;
  /** Title and version of the API document. */
  readonly api: ApiInfo;
  /** All migrations including new ones, sorted by path. */
  readonly migrations: readonly MigrationPlace[];
}

/** The export of a migration. */
export interface MigrationPlace {
  /** Project-relative path of the migration's own file. */
  readonly path: string;
  /** Project-relative path of the module that exports it. */
  readonly file: string;
  /** Name of the export. */
  readonly name: string;
}

/** Names that the template declares or uses. */
const TAKEN: readonly string[] = [
  'Collaborators',
  'actions',
  'application',
  'clock',
  'collaborators',
  'eventHistory',
  'placement',
  'events',
  'repositories',
  'result',
  'ConstructorParameters',
  'Record',
  'Pick',
];

/** Builds the view of `application.hbs`. */
export function applicationView(emission: Emission, place: ApplicationPlace): ApplicationView {
  const { schema } = emission;
  const imports = new Imports(place.file, TAKEN);
  const responses = new ResponseTypes(imports, emission);
  const wiring = new WiringPrinter(emission, (model) => modelFile(place.outputFolder, model), imports);
  const printing = { emission, imports, responses, outputFolder: place.outputFolder };
  const actions = new Members(schema.actions.map((action) => [action.name, actionCode(action, printing)]));
  const collaborators = wiring.collaborators();
  const handled = handledEvents(printing);
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
    routesOf: imports.runtimeValue('routesOf'),
    wireActions: imports.runtimeValue('wireActions'),
    hasCollaborators: collaborators.length > 0,
    collaborators,
    events: printList(
      emission,
      'events',
      imports.runtimeType('EventDescriptor'),
      schema.events.map((event) => handled.get(placeKey(event))?.name ?? listedEventCode(event, printing)),
    ),
    responses: responses.views(),
    actions: emission.print(actions, 0, LINE_WIDTH),
    api: emission.print({ ...place.api }, 2, 'api: ,'.length),
    codegenVersion: CODEGEN_VERSION,
    models: emission.print(
      schema.models.map((model) => at(model.location, wiring.descriptor(model))),
      2,
      'models: ,'.length,
    ),
    wiring: emission.print(
      new Members(schema.actions.map((action) => [action.name, wiring.action(action)])),
      4,
      LINE_WIDTH,
    ),
    migrations: emission.print(migrationNames(place.migrations, imports), 2, 'migrations: ,'.length),
    repositories: wiring.repositories(),
    wireParameters: wiring.parameters(),
  };
  const handlers = handlersView(emission, wiring, handled);
  const sagas = sagasView(emission, wiring, imports);
  return { ...view, ...handlers, ...sagas, imports: imports.statements() };
}

function keyTypeText(model: string, { fields }: KeySchema): string {
  return `Pick<${model}, ${fields.map(({ value }) => quote(value)).join(' | ')}>`;
}

/** The context in which descriptors of events are printed. */
type EventPrinting = Pick<ActionPrinting, 'emission' | 'imports' | 'outputFolder'>;

interface HandledEvent {
  readonly name: Expression;
  readonly descriptor: string;
}

/** Events that handlers name have variables, so that the lists of events and of handlers share descriptors. */
function handledEvents(printing: EventPrinting): ReadonlyMap<string, HandledEvent> {
  const { emission, imports } = printing;
  const named = new Set(emission.schema.handlers.flatMap(({ events }) => events.map(placeKey)));
  return new Map(
    emission.schema.events
      .filter((event) => named.has(placeKey(event)))
      .map((event) => {
        const variable = imports.reserve(camelCase(event.name));
        const lead = `const ${variable}: EventDescriptor = ;`.length;
        const descriptor = emission.print(eventCode(event, printing), 0, lead);
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
  wiring.startFunction();
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
  const sagas = schema.sagas.map(({ className: name, name: storedName, file, state, location }) => {
    const model = state === undefined ? undefined : models.get(state.name);
    if (model === undefined) throw new Error(`${name} has no state: the checks let it pass`);
    const sagaClass = imports.value({ kind: 'file', file, name });
    const args = [wiring.descriptor(model).text, sagaClass, quote(storedName)];
    const call = printCall(imports.runtimeValue('defineSaga'), args, { indent: 4, lead: 0 });
    return at(location, new Expression(call));
  });
  return { hasSagas: sagas.length > 0, sagas: print(sagas, 2, 'sagas: ,'.length) };
}

/** Returns the descriptor of an event as an element of a list at the margin. */
function listedEventCode(event: EventSchema, printing: EventPrinting): Code {
  return at(event.location, printing.emission.part(eventCode(event, printing), 2, ','.length));
}

function eventCode(event: EventSchema, { emission, imports, outputFolder }: EventPrinting): Code {
  const { name, aliases, model, file, location, version } = event;
  const eventClass = imports.value({ kind: 'file', file, name });
  const place = { classText: eventClass, outputFolder, imports };
  const upcasters = upcastersCode(version, { of: 'event', className: name }, place);
  const fields = declaredFieldsCode(event.fields, 'stored', emission, imports);
  return at(location, {
    name: storedNameOf(event),
    aliases,
    model: storedNameOf(model),
    eventClass: new Expression(`() => ${eventClass}`),
    version,
    upcasters,
    fields: fields === undefined ? [] : new Call(imports.runtimeValue('namedFields'), [fields]),
  });
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
