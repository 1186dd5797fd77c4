import type { FieldDescriptor, ObjectType } from '../../../runtime/domain/descriptor.js';
import { camelCase } from '../../schema/naming.js';
import { type ActionSchema, type RouteSchema, storedNameOf } from '../../schema/project-schema.js';
import { pathParameters } from '../../schema/route-path.js';
import type { Emission } from '../emission.js';
import { type Code, Expression, LINE_WIDTH, printCode } from '../print/code.js';
import type { Imports } from '../print/imports.js';
import { docComment, isBindingName, quote } from '../print/strings.js';
import { ClientReaders } from './client-readers.js';
import { ClientTypes } from './client-types.js';

/** The files of a client. */
export interface ClientFiles {
  readonly client: string;
  readonly runtime: string;
  readonly stream: string;
}

/** One function of a client. */
export interface ClientFunctionView {
  /** Printed comment. */
  readonly doc: string;
  readonly name: string;
  /** Printed parameters, without the parentheses. */
  readonly parameters: string;
  /** Printed return type. */
  readonly result: string;
  /** Printed expression that it returns. */
  readonly body: string;
}

/** A route with everything that its functions are printed from. */
interface PrintedRoute {
  readonly action: ActionSchema;
  readonly route: RouteSchema;
  readonly params: readonly FieldDescriptor[];
  readonly response: ObjectType | undefined;
  /** Name of the function that calls it. */
  readonly name: string;
  /** Name of the type of its params. */
  readonly paramsType: string;
  readonly doc: string;
}

/** Prints the functions of a client, and collects the types and readers that they need. */
export class ClientFunctions {
  readonly types: ClientTypes;
  readonly readers: ClientReaders;
  /** True if a route has a feed. */
  hasStreams = false;
  readonly #emission: Emission;
  readonly #imports: Imports;
  readonly #files: ClientFiles;
  readonly #eventTypes = new Map<string, string>();

  constructor(emission: Emission, imports: Imports, files: ClientFiles) {
    this.#emission = emission;
    this.#imports = imports;
    this.#files = files;
    this.types = new ClientTypes(imports, files.runtime);
    this.readers = new ClientReaders(imports, files.runtime);
  }

  /** Returns the functions of one route. */
  of(action: ActionSchema, route: RouteSchema): readonly ClientFunctionView[] {
    const { types } = this.#emission;
    const base = action.className.replace(/(?<=.)Action$/, '');
    const short = camelCase(base);
    const printed: PrintedRoute = {
      action,
      route,
      params: action.params.map((field) => types.field(field)),
      response: route.response === undefined ? undefined : types.named(route.response),
      name: this.#imports.reserve(isBindingName(short) ? short : camelCase(action.className)),
      paramsType: action.params.length === 0 ? '' : this.#imports.reserve(`${base}Params`),
      doc: action.description ?? `${route.method} ${route.path}`,
    };
    if (printed.paramsType !== '')
      this.types.declare(printed.paramsType, this.types.object(printed.params, 'param', 0));
    return [this.#call(printed), ...this.#items(printed), ...this.#stream(printed)];
  }

  #call(printed: PrintedRoute): ClientFunctionView {
    const { route, response, name, params, doc } = printed;
    const answer = response === undefined ? 'void' : this.types.answer(response);
    const options = [
      this.#runtimeType(route.method === 'GET' ? 'CallOptions' : 'WriteOptions'),
      ...(route.ifMatch === undefined ? [] : [this.#runtimeType('IfMatch')]),
      ...(hasFreshness(route) ? [`${this.#runtimeType('IfChanged')}<${answer}>`] : []),
    ].join(' & ');
    const reader = response === undefined ? undefined : this.readers.answer(response);
    const etag = hasFreshness(route) ? route.etag?.value : undefined;
    const parts: readonly (Code | undefined)[] = [
      route.method,
      route.path,
      reader === undefined ? undefined : new Expression(reader),
      etag,
    ];
    const last = parts.findLastIndex((part) => part !== undefined);
    const tuple = parts.slice(0, last + 1).map((part) => part ?? new Expression('undefined'));
    const rest = `${params.length === 0 ? '{}' : 'params'}, options)`;
    const lead = 'return ;'.length + `call(client, , ${rest}`.length;
    const call = this.#runtimeValue('call');
    return {
      name: this.#emission.at(printed.action.location, name),
      doc: docComment(doc),
      parameters: this.#parameters(printed, `options?: ${options}`, `Promise<${answer}>`.length),
      result: `Promise<${answer}>`,
      body: `${call}(client, ${printCode(tuple, 2, lead)}, ${rest}`,
    };
  }

  /** Returns the function that iterates over a paged list, if the route has one. */
  #items(printed: PrintedRoute): readonly ClientFunctionView[] {
    const { route, response, name, params, doc, action } = printed;
    const item = response === undefined ? undefined : itemOf(response);
    const cursor = params.find((field) => field.name === 'cursor');
    if (route.method !== 'GET' || item === undefined || cursor?.type.kind !== 'string') return [];
    const type = this.types.type(item, 'answer', 0);
    const result = `AsyncGenerator<${type}, void, undefined>`;
    const options = `options?: ${this.#runtimeType('CallOptions')}`;
    return [
      {
        name: this.#emission.at(action.location, this.#imports.reserve(`${name}Items`)),
        doc: docComment(`${doc}\nReturns the items of all pages.`),
        parameters: this.#parameters(printed, options, result.length),
        result,
        body: `${this.#runtimeValue('itemsOf')}(params, (page) => ${name}(client, page, options))`,
      },
    ];
  }

  /** Returns the function that follows a feed, if the route has one. */
  #stream({ route, name, paramsType, params, doc, action }: PrintedRoute): readonly ClientFunctionView[] {
    const id = params.find((field) => field.name === route.feed?.value)?.type;
    if (id?.kind !== 'id') return [];
    this.hasStreams = true;
    const inPath = pathParameters(route.path).map(quote).join(' | ');
    const event = this.#eventType(id.model);
    const result = `AsyncGenerator<${event}, void, undefined>`;
    const file = this.#files.stream;
    const follow = this.#imports.value({ kind: 'file', file, name: 'follow' });
    const options = this.#imports.type({ kind: 'file', file, name: 'FollowOptions' });
    const all = [this.#clientParameter(), `params: Pick<${paramsType}, ${inPath}>`, `options?: ${options}`];
    return [
      {
        name: this.#emission.at(action.location, this.#imports.reserve(`${name}Stream`)),
        doc: docComment(`${doc}\nReturns events as they happen, without an end.`),
        parameters: wrappedParameters(all, `export function ${name}Stream(): ${result} {`.length),
        result,
        body: `${follow}(client, ${quote(route.path)}, params, options)`,
      },
    ];
  }

  /** The union of the events of a model, discriminated by `eventType`. */
  #eventType(model: string): string {
    const known = this.#eventTypes.get(model);
    if (known !== undefined) return known;
    const name = this.#imports.reserve(`${model}StreamedEvent`);
    this.#eventTypes.set(model, name);
    const streamed = this.#imports.type({ kind: 'file', file: this.#files.stream, name: 'StreamedEvent' });
    const members = this.#emission.schema.events
      .filter((event) => event.model.name === model)
      .map((event) => {
        const fields = event.fields.map((field) => this.#emission.types.field(field));
        const names = [storedNameOf(event), ...(event.aliases ?? [])].map(quote).join(' | ');
        return `${streamed}<${names}, ${this.types.object(fields, 'stored', 4)}>`;
      });
    const text =
      members.length === 0 ? `${streamed}<string, ${this.#runtimeType('Json')}>` : members.join('\n  | ');
    this.types.declare(name, text);
    return name;
  }

  #parameters({ name, params, paramsType }: PrintedRoute, options: string, resultWidth: number): string {
    const isOptional = params.every((field) => field.optional === true || field.default !== undefined);
    const given = params.length === 0 ? [] : [`params: ${paramsType}${isOptional ? ' = {}' : ''}`];
    const lead = `export function ${name}Items():  {`.length + resultWidth;
    return wrappedParameters([this.#clientParameter(), ...given, options], lead);
  }

  #clientParameter(): string {
    return `client: ${this.#runtimeType('Client')}`;
  }

  #runtimeType(name: string): string {
    return this.#imports.type({ kind: 'file', file: this.#files.runtime, name });
  }

  #runtimeValue(name: string): string {
    return this.#imports.value({ kind: 'file', file: this.#files.runtime, name });
  }
}

/** Whether the route is a GET whose answers carry the version of a model. */
function hasFreshness({ method, etag }: RouteSchema): boolean {
  return method === 'GET' && etag !== undefined;
}

/** Returns the type of the items of a page; undefined if the response is not a page. */
function itemOf({ fields }: ObjectType): ObjectType | undefined {
  const items = fields.find(({ name }) => name === 'items')?.type;
  const next = fields.find(({ name }) => name === 'next');
  if (items?.kind !== 'list' || next?.type.kind !== 'string') return undefined;
  return items.of.kind === 'object' ? items.of : undefined;
}

/** Prints parameters on the line of their function if they fit, else one per line. */
function wrappedParameters(parameters: readonly string[], lead: number): string {
  const flat = parameters.join(', ');
  return flat.length + lead <= LINE_WIDTH ? flat : `\n${parameters.map((each) => `  ${each},\n`).join('')}`;
}
