import type { ApiInfo } from '../../../runtime/openapi/document.js';
import { placeKey, projectIndex } from '../../schema/project-index.js';
import type {
  ActionSchema,
  HandlerSchema,
  ModelSchema,
  SagaSchema,
  SuppliedType,
} from '../../schema/project-schema.js';
import { CODEGEN_VERSION } from '../codegen-version.js';
import type { Emission } from '../emission.js';
import { FileScope, type ImportView } from '../file-scope.js';
import { literal } from '../print/literal.js';
import { quote } from '../print/strings.js';
import { type ConstructionView, descriptorName, FunctionWiring, type RepositoryView } from '../wiring.js';
import { type HeaderView, headerView } from './header-view.js';
import type { EmittedPart } from './part-view.js';

/** View of `application.hbs`: the list of parts, and what belongs to no single part. */
export interface ApplicationView extends HeaderView {
  readonly imports: readonly ImportView[];
  /** Constructor arguments that the application supplies. */
  readonly collaborators: readonly CollaboratorView[];
  /** Version of the contract between emitted code and runtime. */
  readonly codegenVersion: number;
  /** Local names of the parts. */
  readonly parts: readonly string[];
  /** Parameters of the function that creates the handlers, and the repositories that they take. */
  readonly handlerParameters: string;
  readonly handlerRepositories: readonly RepositoryView[];
  readonly handlers: readonly HandlerView[];
  readonly sagas: readonly SagaView[];
  /** Title and version of the API document, quoted. */
  readonly title: string;
  readonly version: string;
}

/** One property of `Collaborators`. */
export interface CollaboratorView {
  /** With a question mark if every constructor takes it as optional. */
  readonly name: string;
  readonly type: string;
}

/** View of `partials/handler.hbs`. */
export interface HandlerView extends ConstructionView {
  /** Stable name, quoted. */
  readonly name: string;
  /** Local names of the descriptors of its events. */
  readonly events: string;
  /** Options with their literals. */
  readonly options: readonly { readonly name: string; readonly value: string }[];
}

/** A saga. */
export interface SagaView {
  /** Local names of the class, and of the descriptor of its state. */
  readonly class: string;
  readonly descriptor: string;
  /** Stable name, quoted. */
  readonly name: string;
}

/** Names that the template declares or uses. */
const TAKEN =
  'Collaborators ConstructorParameters Record application clock collaborators eventHistory placement repositories';

/** Builds the view of `application.hbs`. */
export function applicationView(
  emission: Emission,
  file: string,
  parts: readonly EmittedPart[],
  api: ApiInfo,
): ApplicationView {
  const { schema } = emission;
  const scope = new FileScope(emission, file, TAKEN.split(' '));
  const wiring = new FunctionWiring(scope);
  const events = new Map(
    parts.flatMap((part) =>
      [...part.events].map(([key, name]) => [key, { kind: 'file', file: part.file, name } as const] as const),
    ),
  );
  scope.runtimeType('ApplicationDefinition');
  scope.runtimeValue('joinParts');
  const view = {
    ...headerView(emission.paths.source),
    collaborators: collaboratorViews([...schema.actions, ...schema.handlers], scope),
    codegenVersion: CODEGEN_VERSION,
    parts: parts.map((part) => scope.value({ kind: 'file', file: part.file, name: part.view.variable })),
    handlers: schema.handlers.map((handler) =>
      handlerView(scope, handler, wiring.construction(handler), (key) => {
        const event = events.get(key);
        return event === undefined ? [] : [scope.value(event)];
      }),
    ),
    sagas: schema.sagas.map((saga) => sagaView(scope, saga)),
    title: quote(api.title),
    version: quote(api.version),
  };
  const { parameters, repositories } = wiring;
  return {
    ...view,
    handlerParameters: parameters,
    handlerRepositories: repositories,
    imports: scope.statements(),
  };
}

function collaboratorViews(
  owners: readonly (ActionSchema | HandlerSchema)[],
  scope: FileScope,
): readonly CollaboratorView[] {
  const types = new Map<string, string>();
  const required = new Set<string>();
  for (const owner of owners) {
    for (const { name, wiring } of owner.collaborators) {
      if (wiring.kind !== 'supplied') continue;
      if (!wiring.optional) required.add(name);
      if (!types.has(name)) types.set(name, suppliedText(owner, wiring.type, scope));
    }
  }
  return [...types].map(([name, type]) => ({
    name: required.has(name) ? name : `${name}?`,
    type: required.has(name) ? type : `${type} | undefined`,
  }));
}

function suppliedText(
  { file, className: name }: ActionSchema | HandlerSchema,
  type: SuppliedType,
  scope: FileScope,
): string {
  switch (type.kind) {
    case 'named':
      return scope.type(type.reference);
    case 'keyword':
      return type.text;
    case 'parameter':
      return `ConstructorParameters<typeof ${scope.type({ kind: 'file', file, name })}>[${type.index}]`;
  }
}

function handlerView(
  scope: FileScope,
  { name, events, options, location }: HandlerSchema,
  { class: handlerClass, args }: ConstructionView,
  eventName: (key: string) => readonly string[],
): HandlerView {
  return {
    name: scope.at(location, quote(name)),
    events: events.flatMap((event) => eventName(placeKey(event))).join(', '),
    options: Object.entries(options).flatMap(([option, value]) =>
      value === undefined ? [] : [{ name: option, value: scope.at(location, literal(value)) }],
    ),
    class: scope.at(location, handlerClass),
    args,
  };
}

function sagaView(
  scope: FileScope,
  { className: name, name: storedName, file, state, location }: SagaSchema,
): SagaView {
  const model: ModelSchema | undefined =
    state === undefined ? undefined : projectIndex(scope.emission.schema).models.get(state.name);
  if (model === undefined) throw new Error(`${name} has no state: the checks let it pass`);
  scope.runtimeValue('defineSaga');
  return {
    class: scope.at(location, scope.value({ kind: 'file', file, name })),
    descriptor: descriptorName(model, scope),
    name: quote(storedName),
  };
}
