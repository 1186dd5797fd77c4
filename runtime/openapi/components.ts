import { CURRENCY_CODES } from '../currency-codes.js';
import type { FieldDescriptor, ObjectType } from '../domain/descriptor.js';
import { documentedObject, membersOf } from './documented-schema.js';
import { REQUEST_HEADERS, type RequestHeader } from './headers.js';
import { byName, type Json, type JsonPart } from './json-schema.js';
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

/** Named parts of the document, collected while operations are written, so that each is said once. */
export class Components {
  readonly #schemas = new Map<string, Json>([['Problem', PROBLEM_SCHEMA]]);
  readonly #responses = new Map<ObjectType, string>();
  readonly #problems = new Set<ProblemStatus>();
  readonly #headers = new Set<RequestHeader>();
  #currency: string | undefined;

  /** A reference to the schema of a request body. @param preferred its name, if still free */
  request(preferred: string, fields: readonly FieldDescriptor[]): JsonPart {
    const name = this.#reserve(preferred);
    const currency = (): JsonPart => this.currency();
    this.#schemas.set(
      name,
      documentedObject(fields, { direction: 'request', currency, named: () => undefined }),
    );
    return reference(name);
  }

  /** A reference to the schema of what answers hold. One type becomes one schema. */
  response(type: ObjectType): JsonPart {
    const known = this.#responses.get(type);
    if (known !== undefined) return reference(known);
    // Takes its name before nested schemas are written, so that they cannot take it.
    const name = this.#reserve(type.name ?? 'Response');
    this.#responses.set(type, name);
    const schema = documentedObject(type.fields, {
      direction: 'response',
      currency: () => this.currency(),
      named: (nested) => (nested.name === undefined ? undefined : this.response(nested)),
    });
    this.#schemas.set(name, { ...(type.doc === undefined ? {} : { description: type.doc }), ...schema });
    return reference(name);
  }

  /** A reference to the schema of a currency. */
  currency(): JsonPart {
    if (this.#currency === undefined) {
      this.#currency = this.#reserve('Currency');
      this.#schemas.set(this.#currency, CURRENCY_SCHEMA);
    }
    return reference(this.#currency);
  }

  /** A reference to the answer for a failure. */
  problem(status: ProblemStatus): JsonPart {
    this.#problems.add(status);
    return { $ref: `#/components/responses/${PROBLEMS[status].name}` };
  }

  /** A reference to the answer for all other failures. */
  failure(): JsonPart {
    return { $ref: `#/components/responses/${FAILURE_NAME}` };
  }

  /** A reference to a header that requests may carry. */
  header(name: RequestHeader): JsonPart {
    this.#headers.add(name);
    return { $ref: `#/components/parameters/${name}` };
  }

  /** All of them, sorted. */
  toJson(): JsonPart {
    const headers = [...this.#headers].sort(byName);
    const problems = [...this.#problems].sort((a, b) => a - b);
    return {
      schemas: membersOf([...this.#schemas].sort(([a], [b]) => byName(a, b))),
      ...(headers.length === 0
        ? {}
        : { parameters: membersOf(headers.map((name) => [name, REQUEST_HEADERS[name]])) }),
      ...(problems.length === 0
        ? {}
        : {
            responses: membersOf([
              ...problems.map((status) => [PROBLEMS[status].name, problemResponse(status)] as const),
              [FAILURE_NAME, FAILURE_RESPONSE],
            ]),
          }),
    };
  }

  #reserve(preferred: string): string {
    const allowed = preferred.replace(/[^\w.-]/g, '_');
    let name = allowed;
    for (let count = 2; this.#schemas.has(name); count += 1) name = `${allowed}${count}`;
    this.#schemas.set(name, true);
    return name;
  }
}

function reference(name: string): JsonPart {
  return { $ref: `#/components/schemas/${name}` };
}
