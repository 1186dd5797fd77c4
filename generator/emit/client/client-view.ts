import type { FieldDescriptor, ObjectType } from '../../../runtime/domain/descriptor.js';
import { camelCase } from '../../schema/naming.js';
import { type ActionSchema, type RouteSchema, storedNameOf } from '../../schema/project-schema.js';
import { pathParameters } from '../../schema/route-path.js';
import type { Emission } from '../emission.js';
import { CLIENT, FileScope, type ImportView } from '../file-scope.js';
import { type DocView, docView, isBindingName, quote } from '../print/strings.js';
import { statusOf } from '../routes.js';
import { type HeaderView, headerView } from '../views/header-view.js';
import { ClientTypes, type ClientTypeView, type ReaderView } from './client-types.js';

/** View of `client.hbs`: routes as functions, for programs that call the service. */
export interface ClientView extends HeaderView {
  readonly imports: readonly ImportView[];
  readonly types: readonly ClientTypeView[];
  readonly readers: readonly ReaderView[];
  readonly routes: readonly ClientRouteView[];
}

/** The functions of one route. */
export interface ClientRouteView extends DocView {
  /** Name of the function that calls the route. */
  readonly name: string;
  /** Type of its params and their default, or ''. */
  readonly paramsType: string;
  readonly paramsDefault: string;
  /** Types of its options and its result. */
  readonly options: string;
  readonly answer: string;
  /** Path, quoted. */
  readonly path: string;
  /** Elements of the route's tuple. */
  readonly route: string;
  /** The function that iterates over a paged list, and the type of its items, or ''. */
  readonly itemsName: string;
  readonly itemType: string;
  /** The function that follows a feed, the names of its params, and the type of its events, or ''. */
  readonly streamName: string;
  readonly streamParams: string;
  readonly streamEvent: string;
}

/** Names that the template uses. */
const TAKEN =
  'client params options page value undefined AsyncGenerator Date Pick Promise Readonly ReadonlyArray Record';

/** Builds the view of `client.hbs`. */
export function clientView(emission: Emission, file: string): ClientView {
  const scope = new FileScope(emission, file, TAKEN.split(' '), CLIENT);
  const client = new ClientRoutes(scope);
  const routes = emission.schema.actions.flatMap((action) =>
    action.route === undefined ? [] : [client.of(action, action.route)],
  );
  return {
    ...headerView(emission.paths.source),
    types: client.types.declared,
    readers: client.types.readers,
    routes,
    imports: scope.statements(),
  };
}

/** Describes the functions of a client, and collects the types and readers that they need. */
class ClientRoutes {
  readonly types: ClientTypes;
  readonly #scope: FileScope;
  readonly #eventTypes = new Map<string, string>();

  constructor(scope: FileScope) {
    this.#scope = scope;
    this.types = new ClientTypes(scope);
    scope.runtimeType('Client');
  }

  /** Returns the functions of one route. */
  of(action: ActionSchema, route: RouteSchema): ClientRouteView {
    const { types } = this.#scope.emission;
    const base = action.className.replace(/(?<=.)Action$/, '');
    const short = camelCase(base);
    const params = action.params.map((field) => types.field(field));
    const response = route.response === undefined ? undefined : types.named(route.response);
    const name = this.#scope.reserve(isBindingName(short) ? short : `${short}Action`);
    const paramsType = params.length === 0 ? '' : this.#scope.reserve(`${base}Params`);
    if (paramsType !== '') this.types.declare(paramsType, params, 'param');
    const { text: answer, reader } =
      response === undefined ? { text: 'void', reader: undefined } : this.types.answer(response);
    const fields = response === undefined ? undefined : this.types.required(response);
    const isOptional = params.every((field) => field.optional === true || field.default !== undefined);
    this.#scope.runtimeValue('call');
    return {
      ...docView(action.description ?? `${route.method} ${route.path}`),
      name: this.#scope.at(action.location, name),
      paramsType,
      paramsDefault: isOptional ? ' = {}' : '',
      options: this.#optionsText(route, answer),
      answer,
      path: quote(route.path),
      route: routeText(route, reader, fields),
      ...this.#items(route, name, params, response),
      ...this.#stream(action, route, name),
    };
  }

  #optionsText(route: RouteSchema, answer: string): string {
    const scope = this.#scope;
    return [
      scope.runtimeType(route.method === 'GET' ? 'CallOptions' : 'WriteOptions'),
      ...(route.ifMatch === undefined ? [] : [scope.runtimeType('IfMatch')]),
      ...(hasFreshness(route) ? [`${scope.runtimeType('IfChanged')}<${answer}>`] : []),
    ].join(' & ');
  }

  #items(
    { method }: RouteSchema,
    name: string,
    params: readonly FieldDescriptor[],
    response: ObjectType | undefined,
  ): Pick<ClientRouteView, 'itemsName' | 'itemType'> {
    const item = response === undefined ? undefined : itemOf(response);
    const cursor = params.find((field) => field.name === 'cursor');
    if (method !== 'GET' || item === undefined || cursor?.type.kind !== 'string')
      return { itemsName: '', itemType: '' };
    this.#scope.runtimeValue('itemsOf');
    this.#scope.runtimeType('CallOptions');
    return { itemsName: this.#scope.reserve(`${name}Items`), itemType: this.types.type(item, 'answer').text };
  }

  #stream(
    { params }: ActionSchema,
    { feed, path }: RouteSchema,
    name: string,
  ): Pick<ClientRouteView, 'streamName' | 'streamParams' | 'streamEvent'> {
    const id = params.find((field) => field.name === feed?.value)?.type;
    if (id?.kind !== 'id') return { streamName: '', streamParams: '', streamEvent: '' };
    this.#scope.runtimeValue('follow');
    this.#scope.runtimeType('FollowOptions');
    return {
      streamName: this.#scope.reserve(`${name}Stream`),
      streamParams: pathParameters(path).map(quote).join(' | '),
      streamEvent: this.#eventType(id.model.name),
    };
  }

  /** The union of the events of a model, discriminated by `eventType`. @param model name of the class */
  #eventType(model: string): string {
    const known = this.#eventTypes.get(model);
    if (known !== undefined) return known;
    const name = this.#scope.reserve(`${model}StreamedEvent`);
    this.#eventTypes.set(model, name);
    const streamed = this.#scope.runtimeType('StreamedEvent');
    const json = (): string => this.#scope.runtimeType('Json');
    const members = this.#scope.emission.schema.events
      .filter((event) => event.model.name === model)
      .flatMap((event) => {
        const fields = event.fields.map((field) => this.#scope.emission.types.field(field));
        const names = [storedNameOf(event), ...(event.aliases ?? [])].map(quote).join(' | ');
        const current = `${streamed}<${names}, ${this.types.object(fields, 'stored').text}>`;
        const { version = 1 } = event;
        if (version === 1) return [current];
        // A stream has each payload as it was stored. The sources declare only the current version.
        const earlier = Array.from({ length: version - 1 }, (_, index) => index + 1).join(' | ');
        return [
          `${current} & { readonly eventVersion: ${version} }`,
          `${streamed}<${names}, ${json()}> & { readonly eventVersion: ${earlier} }`,
        ];
      });
    const any = (): string => `${streamed}<string, ${json()}>`;
    this.types.declareUnion(name, members.length === 0 ? [any()] : members);
    return name;
  }
}

/** Whether the route is a GET whose answers carry the version of a model. */
function hasFreshness({ method, etag }: RouteSchema): boolean {
  return method === 'GET' && etag !== undefined;
}

function routeText(route: RouteSchema, reader = 'undefined', fields?: string): string {
  const etag = hasFreshness(route) && route.etag !== undefined ? [quote(route.etag.value)] : [];
  const shown = fields === undefined ? [] : [fields, ...etag];
  return [quote(route.method), quote(route.path), reader, String(statusOf(route)), ...shown].join(', ');
}

/** Returns the type of the items of a page; undefined if the response is not a page. */
function itemOf({ fields }: ObjectType): ObjectType | undefined {
  const items = fields.find(({ name }) => name === 'items')?.type;
  const next = fields.find(({ name }) => name === 'next');
  if (items?.kind !== 'list' || next?.type.kind !== 'string') return undefined;
  return items.of.kind === 'object' ? items.of : undefined;
}
