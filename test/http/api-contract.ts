import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** One answer as received. */
export interface LiveAnswer {
  readonly method: string;
  /** Path with its query. */
  readonly target: string;
  readonly status: number;
  readonly headers: Headers;
  /** The text of the body. */
  readonly text: string;
}

interface Documented {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses?: object }>>>>;
}

const PROBLEM = 'application/problem+json';

/** Statuses of the protocol rather than of a route; operations need not document them. */
const OF_THE_PROTOCOL: ReadonlySet<number> = new Set([404, 405, 406, 408, 414, 415, 431, 501]);

/** Compares live answers with the OpenAPI document of the same server. */
export class ApiContract {
  readonly #document: OpenApiDocument;
  readonly #ajv: Ajv2020 = new Ajv2020({
    strict: false,
    // Inherited properties are not fields of a body.
    ownProperties: true,
    validateFormats: false,
    multipleOfPrecision: 9,
  });
  readonly #compiled: Map<string, ValidateFunction> = new Map();
  /** `METHOD template status` of every documented answer that was seen. */
  readonly seen: Set<string> = new Set();

  private constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#ajv.addSchema({ $id: 'document', ...document });
  }

  /** Reads the document of a running server. */
  static async of(url: string): Promise<ApiContract> {
    const response = await fetch(`${url}/openapi.json`);
    return new ApiContract((await response.json()) as OpenApiDocument);
  }

  /** The parts of the answer that the document does not allow; empty if the answer matches. */
  check(answer: LiveAnswer): readonly string[] {
    const operation = this.#operationOf(answer);
    const documented = operation && this.#documented(operation, answer.status);
    if (documented !== undefined) {
      this.seen.add(`${operation?.method} ${operation?.template} ${answer.status}`);
      return [...this.#checkBody(answer, documented), ...checkHeaders(answer, documented)];
    }
    if (!OF_THE_PROTOCOL.has(answer.status)) return [`status ${answer.status} is not documented`];
    return this.#checkProblem(answer);
  }

  /** Whether the schema of this name allows the text of a body. */
  allows(schema: string, text: string): boolean {
    return this.violations(schema, text).length === 0;
  }

  /** The violations of the schema with this name in the text of a body. */
  violations(schema: string, text: string): readonly string[] {
    return this.#violations({ $ref: `#/components/schemas/${schema}` }, text);
  }

  #operationOf({ method, target }: LiveAnswer): { method: string; template: string } | undefined {
    const [path = ''] = target.split('?');
    const key = method === 'HEAD' ? 'get' : method.toLowerCase();
    const template = Object.keys(this.#document.paths).find((each) => matches(each, path));
    const known = template !== undefined && this.#document.paths[template]?.[key] !== undefined;
    return known ? { method: key, template } : undefined;
  }

  #documented(
    { method, template }: { method: string; template: string },
    status: number,
  ): Documented | undefined {
    const responses = this.#document.paths[template]?.[method]?.responses;
    const response: unknown = responses && Reflect.get(responses, String(status));
    return response === undefined ? undefined : this.#resolve(response);
  }

  #resolve(value: unknown): Documented {
    const { $ref } = value as { readonly $ref?: string };
    if ($ref === undefined) return value as Documented;
    const found = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], this.#document);
    return found as Documented;
  }

  #checkBody(answer: LiveAnswer, { content }: Documented): readonly string[] {
    if (answer.method === 'HEAD' || answer.text === '') return [];
    const type = mediaType(answer);
    const schema = content?.[type]?.schema;
    if (schema === undefined) return [`content type ${type} is not documented for ${answer.status}`];
    return this.#violations(schema, answer.text);
  }

  #checkProblem(answer: LiveAnswer): readonly string[] {
    if (answer.method === 'HEAD') return [];
    if (mediaType(answer) !== PROBLEM) return [`${answer.status} is no problem: ${mediaType(answer)}`];
    return this.#violations({ $ref: '#/components/schemas/Problem' }, answer.text);
  }

  #violations(schema: object, text: string): readonly string[] {
    const key = JSON.stringify(schema);
    const validate = this.#compiled.get(key) ?? this.#ajv.compile(JSON.parse(absolute(key)));
    this.#compiled.set(key, validate);
    if (validate(JSON.parse(text))) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}

/** The document's references as absolute ones. */
function absolute(schema: string): string {
  return schema.replaceAll('"$ref":"#/', '"$ref":"document#/');
}

function mediaType({ headers }: LiveAnswer): string {
  return (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
}

function matches(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length && wanted.every((part, at) => part.startsWith('{') || part === given[at])
  );
}

function checkHeaders({ headers }: LiveAnswer, documented: Documented): readonly string[] {
  const required = ['ETag', 'Location', 'Retry-After'].filter(
    (name) => documented.headers?.[name] !== undefined,
  );
  return required.filter((name) => headers.get(name) === null).map((name) => `header ${name} is missing`);
}
