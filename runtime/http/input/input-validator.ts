import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { SchemaValidateFunction } from 'ajv/dist/types/index.js';
import type { FieldDescriptor } from '../../domain/descriptor.js';
import { escapePointer, type InputProblem } from '../problem.js';
import type { ValueSource } from './convert.js';
import { type CheckedValue, objectSchema } from './input-schema.js';
import { Refusal } from './refusal.js';

/** Checks an object and converts its values in place. Returns all mistakes, or `undefined`. */
export type InputValidator = (input: object) => readonly InputProblem[] | undefined;

/** The three sources of params. */
export type InputPlace = 'body' | 'path' | 'query';

const PLACE_LABELS: Readonly<Record<InputPlace, string>> = {
  body: 'The body',
  path: 'The path',
  query: 'The query',
};

/** Compiles params to validators. One for all routes of a server. */
export class InputValidators {
  readonly #ajv: Ajv2020;

  constructor() {
    this.#ajv = new Ajv2020({
      allErrors: true,
      verbose: true,
      useDefaults: true,
      ownProperties: true,
      strict: false,
    });
    this.#ajv.addKeyword({
      keyword: 'fw',
      modifying: true,
      errors: true,
      compile: checkValue,
    });
  }

  /** Compiled once, at start. */
  compile(fields: readonly FieldDescriptor[], place: InputPlace): InputValidator {
    const source: ValueSource = place === 'body' ? 'json' : 'text';
    const validate = this.#ajv.compile(objectSchema(fields, source, PLACE_LABELS[place]));
    return (input) => {
      if (validate(input) === true) return undefined;
      return problemsOf(validate.errors ?? [], place);
    };
  }
}

/** Our keyword: checks a value and replaces it by the converted one. */
function checkValue({ label, nullable, convert }: CheckedValue): SchemaValidateFunction {
  const check: SchemaValidateFunction = (value: unknown, context) => {
    if (value === null && nullable) return true;
    const converted = value === null ? new Refusal('cannot be null') : convert(value);
    if (converted instanceof Refusal) {
      check.errors = [{ keyword: 'fw', message: `${label} ${converted.reason}`, params: {} }];
      return false;
    }
    if (context !== undefined && converted !== value)
      context.parentData[context.parentDataProperty] = converted;
    return true;
  };
  return check;
}

/**
 * One problem per value, the first one found, and none inside a refused value. Our own keyword comes first in each
 * schema, so its problems take precedence.
 */
function problemsOf(errors: readonly ErrorObject[], place: InputPlace): readonly InputProblem[] {
  const refused = errors.filter(({ keyword }) => keyword === 'fw').map(({ instancePath }) => instancePath);
  const byPointer = new Map<string, InputProblem>();
  for (const error of errors) {
    const problem = problemOfError(error, place);
    const inside = refused.some((pointer) => problem.pointer.startsWith(`${pointer}/`));
    if (!inside && !byPointer.has(problem.pointer)) byPointer.set(problem.pointer, problem);
  }
  return [...byPointer.values()];
}

function problemOfError(error: ErrorObject, place: InputPlace): InputProblem {
  const where = place === 'body' ? {} : { in: place };
  const { instancePath, keyword, params, parentSchema } = error;
  if (keyword === 'required') {
    const name = String(params['missingProperty']);
    const label = labelOf(parentSchema?.['properties']?.[name]) ?? name;
    return { ...where, pointer: `${instancePath}/${escapePointer(name)}`, message: `${label} is required` };
  }
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    const shown = JSON.stringify(name.slice(0, 64));
    const message = place === 'body' ? `Unknown field ${shown}` : `Unknown parameter ${shown}`;
    return { ...where, pointer: `${instancePath}/${escapePointer(name)}`, message };
  }
  return { ...where, pointer: instancePath, message: error.message ?? 'Not valid' };
}

function labelOf(schema: unknown): string | undefined {
  return typeof schema === 'object' && schema !== null
    ? (schema as { readonly fw?: CheckedValue }).fw?.label
    : undefined;
}
