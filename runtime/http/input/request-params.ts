import type { IncomingHttpHeaders } from 'node:http';
import { placesOf } from '../../openapi/documented-route.js';
import { requireJson } from '../media-types.js';
import { HttpProblem, type InputProblem } from '../problem.js';
import type { RouteDescriptor } from '../route.js';
import { compileInput, type InputValidator } from './compile-input.js';
import { parseJsonBytes } from './json-text.js';
import { readQuery } from './query-text.js';

/** The parts of a request that contain its action's params. */
export interface RequestParts {
  /** The request target, query included. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Decoded path parameters by name. */
  readonly path: object;
  /** Absent or empty: no body. */
  readonly body: Buffer | undefined;
}

/** Params of an action, converted. */
export type RequestParams = Record<string, unknown>;

/** Maximum problems in one answer. */
const MAXIMUM_PROBLEMS = 32;

/** Reads the params of one route's action from requests. Compiled once, at start. */
export class ParamsReader {
  readonly #path: InputValidator | undefined;
  readonly #query: InputValidator | undefined;
  readonly #body: InputValidator;
  readonly #unknownQuery: InputValidator;
  /** Names of query parameters that may be repeated. */
  readonly #queryLists: ReadonlySet<string>;
  readonly #needsBody: boolean;
  readonly #nestingDepth: number;

  constructor(route: RouteDescriptor, nestingDepth: number) {
    const { path, query, body } = placesOf(route);
    this.#path = path.length > 0 ? compileInput(path, 'path') : undefined;
    this.#query = query.length > 0 ? compileInput(query, 'query') : undefined;
    this.#body = compileInput(body, 'body');
    this.#queryLists = new Set(query.filter(({ type }) => type.kind === 'list').map(({ name }) => name));
    this.#unknownQuery = compileInput([], 'query');
    this.#needsBody = body.some(({ optional }) => optional !== true);
    this.#nestingDepth = nestingDepth;
  }

  /** @throws HttpProblem with all mistakes in the request's content */
  read({ url, headers, path, body }: RequestParts): RequestParams {
    const input = this.#readBody(body, headers);
    // Undefined if there is none and none is expected, as for most writing requests.
    const isWithout = this.#query === undefined && !url.includes('?');
    const query = isWithout ? undefined : readQuery(url, this.#queryLists);
    const pathProblems = this.#path?.(path);
    const queryProblems = query === undefined ? undefined : (this.#query ?? this.#unknownQuery)(query);
    const bodyProblems = this.#body(input);
    if (pathProblems !== undefined || queryProblems !== undefined || bodyProblems !== undefined) {
      throw invalidParams([...(pathProblems ?? []), ...(queryProblems ?? []), ...(bodyProblems ?? [])]);
    }
    return Object.assign(input, query, path);
  }

  #readBody(body: Buffer | undefined, headers: IncomingHttpHeaders): RequestParams {
    if (body === undefined || body.length === 0) {
      if (!this.#needsBody) return {};
      throw new HttpProblem('HTTP_MALFORMED_BODY', 'The body is empty; a JSON object is expected');
    }
    requireJson(headers);
    const value = parseJsonBytes(body, this.#nestingDepth);
    if (isJsonObject(value)) return value;
    throw new HttpProblem('FW_VALIDATION', 'The body must be a JSON object', {
      errors: [{ pointer: '', message: 'The body must be a JSON object' }],
    });
  }
}

/** A parsed number is an object too, of a class of its own. */
function isJsonObject(value: unknown): value is RequestParams {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A single problem is the message; several are listed. */
export function invalidParams(problems: readonly InputProblem[]): HttpProblem {
  const errors = problems.slice(0, MAXIMUM_PROBLEMS);
  const omitted = problems.length - errors.length;
  const detail =
    errors.map(({ message }) => message).join('; ') + (omitted > 0 ? `; and ${omitted} more` : '');
  return new HttpProblem('FW_VALIDATION', detail, { errors });
}
