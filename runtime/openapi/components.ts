import { CURRENCY_CODES } from '../currency-codes.js';
import type { FieldDescriptor, FieldType, ObjectType } from '../domain/descriptor.js';
import type { Documenting } from '../domain/kinds/field-kind.js';
import { byName, type Json, type JsonPart, membersOf } from '../domain/kinds/json-schema.js';
import { partsOf } from '../domain/kinds/kinds.js';
import { referencesAround } from '../domain/recursive-type.js';
import type { SecuritySchemes } from './documented-access.js';
import { documentedField, documentedObject, documentedType } from './documented-schema.js';
import { REQUEST_HEADERS, type RequestHeader } from './headers.js';
import {
  FAILURE_NAME,
  FAILURE_RESPONSE,
  PROBLEM_SCHEMA,
  PROBLEMS,
  type ProblemStatus,
  problemResponse,
} from './problems.js';

const CURRENCY_SCHEMA: JsonPart = {
  description: 'An active currency of ISO 4217.',
  type: 'string',
  enum: [...CURRENCY_CODES].sort(),
  examples: ['EUR'],
};

/** Named parts of the document, collected while operations are written, so that each is defined once. */
export class Components {
  readonly #schemas = new Map<string, Json>([['Problem', PROBLEM_SCHEMA]]);
  readonly #responses = new Map<ObjectType, string>();
  /** Names of schemas of union variants and recursive types, by their content. */
  readonly #types = new Map<string, string>();
  readonly #problems = new Set<ProblemStatus>();
  readonly #headers = new Set<RequestHeader>();
  readonly #schemes: SecuritySchemes;
  #currency: string | undefined;

  constructor(schemes: SecuritySchemes) {
    this.#schemes = schemes;
  }

  /** A reference to the schema of a request body. @param preferred its name, if still available */
  request(preferred: string, fields: readonly FieldDescriptor[]): JsonPart {
    const name = this.#reserve(preferred);
    this.#schemas.set(name, documentedObject(fields, this.#documenting('request')));
    return reference(name);
  }

  /** The schema of a parameter in the path or the query. */
  parameter(field: FieldDescriptor): JsonPart {
    return documentedField(field, this.#documenting('request'));
  }

  /** A reference to the schema of a response. Each type has one schema. */
  response(type: ObjectType): JsonPart {
    const known = this.#responses.get(type);
    if (known !== undefined) return reference(known);
    // Reserves the name before nested schemas are written.
    const name = this.#reserve(type.name ?? 'Response');
    this.#responses.set(type, name);
    const self = selfWithin(type);
    if (self !== undefined) this.#types.set(keyOf('response', self), name);
    const schema = documentedObject(type.fields, this.#documenting('response'));
    this.#schemas.set(name, { ...(type.doc === undefined ? {} : { description: type.doc }), ...schema });
    return reference(name);
  }

  /** @param open schemas of the enclosing recursive types, by the names that `again` uses */
  #documenting(direction: Direction, open: ReadonlyMap<string, string> = new Map()): Documenting {
    const isShared = (type: ObjectType): boolean =>
      direction === 'response' &&
      type.name !== undefined &&
      (open.size === 0 || referencesAround(type).size === 0);
    return {
      direction,
      currency: () => this.currency(),
      named: (nested) => (isShared(nested) ? this.response(nested) : undefined),
      variant: (type, tag) =>
        this.#shared(`${contextOf(type, open)} ${direction}`, pascalCase(tag), type, () =>
          documentedObject(type.fields, this.#documenting(direction, open)),
        ),
      recursive: (type) =>
        this.#shared(direction, type.name, type, (name) =>
          documentedType(type.of, this.#documenting(direction, new Map([...open, [type.name, name]]))),
        ),
      again: (name) => reference(open.get(name) ?? name),
    };
  }

  /** A reference to a schema that is written once, with a separate name for requests. */
  #shared(use: string, preferred: string, type: FieldType, make: (name: string) => JsonPart): JsonPart {
    const key = keyOf(use, type);
    const known = this.#types.get(key);
    if (known !== undefined) return reference(known);
    const name = this.#reserve(use.endsWith('request') ? `${preferred}Request` : preferred);
    this.#types.set(key, name);
    this.#schemas.set(name, make(name));
    return reference(name);
  }

  /** A reference to the currency schema. */
  currency(): JsonPart {
    if (this.#currency === undefined) {
      this.#currency = this.#reserve('Currency');
      this.#schemas.set(this.#currency, CURRENCY_SCHEMA);
    }
    return reference(this.#currency);
  }

  /** A reference to the response for a failure status. */
  problem(status: ProblemStatus): JsonPart {
    this.#problems.add(status);
    return { $ref: `#/components/responses/${PROBLEMS[status].name}` };
  }

  /** A reference to the response for all other failures. */
  failure(): JsonPart {
    return { $ref: `#/components/responses/${FAILURE_NAME}` };
  }

  /** A reference to a request header. */
  header(name: RequestHeader): JsonPart {
    this.#headers.add(name);
    return { $ref: `#/components/parameters/${name}` };
  }

  /** All components, sorted. */
  toJson(): JsonPart {
    const headers = [...this.#headers].sort(byName);
    const problems = [...this.#problems].sort((a, b) => a - b);
    const responses = problems.map((status) => [PROBLEMS[status].name, problemResponse(status)] as const);
    const sections = {
      schemas: [...this.#schemas].sort(([a], [b]) => byName(a, b)),
      parameters: headers.map((name) => [name, REQUEST_HEADERS[name]] as const),
      responses: responses.length === 0 ? [] : [...responses, [FAILURE_NAME, FAILURE_RESPONSE] as const],
      securitySchemes: Object.entries(this.#schemes),
    };
    return membersOf(
      Object.entries(sections).flatMap(([name, members]) =>
        members.length === 0 ? [] : [[name, membersOf(members)] as const],
      ),
    );
  }

  #reserve(preferred: string): string {
    const allowed = preferred.replace(/[^\w.-]/g, '_');
    let name = allowed;
    for (let count = 2; this.#schemas.has(name); count += 1) name = `${allowed}${count}`;
    this.#schemas.set(name, true);
    return name;
  }
}

type Direction = Documenting['direction'];

function keyOf(use: string, type: FieldType): string {
  return `${use} ${JSON.stringify(type)}`;
}

/** The recursive type that an object type is: that of a response which contains itself, unrolled once. */
function selfWithin({ name, fields }: ObjectType): FieldType | undefined {
  const withParts = (type: FieldType): readonly FieldType[] => [type, ...partsOf(type).flatMap(withParts)];
  const shapeOf = (of: readonly FieldDescriptor[]): string =>
    JSON.stringify(of, (_key, part) =>
      /^(recursive|again)$/.test(part?.kind) && part.name === name ? name : part,
    );
  return fields
    .flatMap(({ type }) => withParts(type))
    .find(
      (type) =>
        type.kind === 'recursive' &&
        type.name === name &&
        type.of.kind === 'object' &&
        shapeOf(type.of.fields) === shapeOf(fields),
    );
}

/** The meaning of `again` depends on the enclosing types. */
function contextOf(type: ObjectType, open: ReadonlyMap<string, string>): string {
  const around = [...referencesAround(type)];
  return around.length === 0 ? '' : JSON.stringify(around.map((name) => [name, open.get(name)]));
}

function pascalCase(text: string): string {
  return text.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
}

function reference(name: string): JsonPart {
  return { $ref: `#/components/schemas/${name}` };
}
