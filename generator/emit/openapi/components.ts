import { compareText } from '../../diagnostics.js';
import { CURRENCIES } from '../../schema/currencies.js';
import type { FieldSchema } from '../../schema/type-schema.js';
import type { Emission } from '../emission.js';
import type { ShardedModels } from '../field-type.js';
import { type Code, Members } from '../print/code.js';
import { memberName } from '../print/strings.js';
import { documentedObject } from './documented-schema.js';
import { REQUEST_HEADERS, type RequestHeader } from './headers.js';
import {
  FAILURE_NAME,
  FAILURE_RESPONSE,
  PROBLEM_SCHEMA,
  PROBLEMS,
  type ProblemStatus,
  problemResponse,
} from './problems.js';

const CURRENCY_KEY = 'currency';
const CURRENCY_SCHEMA: Code = {
  description: 'An active currency of ISO 4217.',
  type: 'string',
  enum: CURRENCIES,
  examples: ['EUR'],
};

/** The schema of an object under the name that it has in the document. */
export interface NamedSchema {
  readonly name: string;
  readonly schema: Code;
}

/** Named parts of the document, collected while operations are written, so that each is said once. */
export class Components {
  readonly #isSharded: ShardedModels;
  readonly #part: Emission['part'];
  readonly #schemas = new Map<string, Code>([['Problem', PROBLEM_SCHEMA]]);
  readonly #names = new Map<string, string>();
  readonly #problems = new Set<ProblemStatus>();
  readonly #headers = new Set<RequestHeader>();

  constructor(isSharded: ShardedModels, part: Emission['part']) {
    this.#isSharded = isSharded;
    this.#part = part;
  }

  /**
   * A reference to the schema of an object.
   *
   * @param key what it is, so that the same thing becomes one schema @param preferred its name, if still free
   */
  object(
    key: string,
    preferred: string,
    direction: 'request' | 'response',
    fields: readonly FieldSchema[],
    description?: string,
  ): Code {
    const known = this.#names.get(key);
    if (known !== undefined) return reference(known);
    const name = this.#freeName(preferred.replace(/[^\w.-]/g, '_'));
    this.#names.set(key, name);
    // Takes its place before nested schemas are written, so that they cannot take its name.
    this.#schemas.set(name, true);
    const schema = {
      description,
      ...documentedObject(fields, {
        direction,
        isSharded: this.#isSharded,
        currency: () => this.currency(),
        nested: (type) =>
          type.name === undefined || direction === 'request'
            ? undefined
            : this.object(nestedKey(type), type.name, direction, type.fields, type.description),
      }),
    };
    this.#schemas.set(name, this.#part(schema, 6, `${memberName(name)}: ,`.length));
    return reference(name);
  }

  /** A reference to the schema of a currency. */
  currency(): { readonly $ref: string } {
    const known = this.#names.get(CURRENCY_KEY);
    if (known !== undefined) return { $ref: `#/components/schemas/${known}` };
    const name = this.#freeName('Currency');
    this.#names.set(CURRENCY_KEY, name);
    this.#schemas.set(name, this.#part(CURRENCY_SCHEMA, 6, `${memberName(name)}: ,`.length));
    return { $ref: `#/components/schemas/${name}` };
  }

  /** True if ids of this model are of version 7. */
  isSharded(model: string): boolean {
    return this.#isSharded(model);
  }

  /** A reference to the answer for a failure. */
  problem(status: ProblemStatus): Code {
    this.#problems.add(status);
    return { $ref: `#/components/responses/${PROBLEMS[status].name}` };
  }

  /** A reference to the answer for all other failures. */
  failure(): Code {
    return { $ref: `#/components/responses/${FAILURE_NAME}` };
  }

  /** A reference to a header that requests may carry. */
  header(name: RequestHeader): Code {
    this.#headers.add(name);
    return { $ref: `#/components/parameters/${name}` };
  }

  /** The schema of an object that was asked for before. @param key as it was asked for */
  schemaOf(key: string): NamedSchema | undefined {
    const name = this.#names.get(key);
    const schema = name === undefined ? undefined : this.#schemas.get(name);
    return name === undefined || schema === undefined ? undefined : { name, schema };
  }

  toCode(): Code {
    const headers = [...this.#headers].sort(compareText);
    const problems = [...this.#problems].sort((a, b) => a - b);
    return {
      schemas: new Members([...this.#schemas].sort(([a], [b]) => compareText(a, b))),
      parameters:
        headers.length === 0
          ? undefined
          : Object.fromEntries(headers.map((name) => [name, REQUEST_HEADERS[name]])),
      responses:
        problems.length === 0
          ? undefined
          : {
              ...Object.fromEntries(
                problems.map((status) => [PROBLEMS[status].name, problemResponse(status)]),
              ),
              [FAILURE_NAME]: FAILURE_RESPONSE,
            },
    };
  }

  #freeName(preferred: string): string {
    let name = preferred;
    for (let count = 2; this.#schemas.has(name); count += 1) name = `${preferred}${count}`;
    return name;
  }
}

function nestedKey(type: {
  readonly name?: string;
  readonly reference?: { readonly kind: string; readonly file?: string };
}): string {
  return `${type.reference?.file ?? ''}#${type.name ?? ''}`;
}

function reference(name: string): Code {
  return { $ref: `#/components/schemas/${name}` };
}
