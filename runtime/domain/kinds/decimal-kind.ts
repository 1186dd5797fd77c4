import { ValidationError } from '../../errors.js';
import { Decimal, plainDecimal } from '../decimal.js';
import type { FieldKind, TypeOf } from './field-kind.js';
import type { JsonPart } from './json-schema.js';
import { parsed, textOf } from './json-values.js';

type DecimalType = TypeOf<'decimal'>;

/** Decimals in responses: as many digits as the value has. */
const PLAIN_DECIMAL = '^-?[0-9]+(\\.[0-9]+)?$';

/** An example that the column can store. */
const exampleOf = ({ precision, scale }: DecimalType): string =>
  precision === scale ? '0.5' : scale > 0 && precision - scale > 2 ? '150.5' : '1';

/** A `Decimal`; text in plain notation in JSON. */
export const decimalKind: FieldKind<DecimalType> = {
  writer: (_, field) => (value) => {
    requireFinite(value as Decimal, field.name);
    return `"${plainDecimal(value as Decimal)}"`;
  },
  reader: (_, field) => (json) =>
    parsed(field.name, 'a decimal as a string', () => new Decimal(textOf(json, field.name))),
  isText: true,
  column: (type) => ({
    sqlType: `numeric(${type.precision},${type.scale})`,
    order: 'numeric',
    text: (field) => columnText(type, field),
    fromDriver: (value) => new Decimal(value as string),
    // A `Decimal` zero has a sign, a `numeric` zero has none.
    keyText: (value) => ((value as Decimal).isZero() ? '0' : (value as Decimal).toFixed()),
  }),
  isValue: (value) => Decimal.isDecimal(value),
  schema: (type, { direction }) =>
    direction === 'request'
      ? {
          type: ['string', 'number'],
          pattern: patternOf(type),
          ...rangeOf(type),
          examples: [exampleOf(type)],
        }
      : { type: 'string', pattern: PLAIN_DECIMAL, examples: [exampleOf(type)] },
  example: exampleOf,
};

function requireFinite(value: Decimal, field: string): void {
  if (!value.isFinite()) throw new ValidationError(`${field} must be a finite number`, { field });
}

/** Refuses a value with too many decimal places, which PostgreSQL would round silently. */
function columnText({ precision, scale }: DecimalType, field: string): (value: unknown) => string {
  const integerDigits = precision - scale;
  return (value) => {
    const decimal = value as Decimal;
    requireFinite(decimal, field);
    if (decimal.decimalPlaces() > scale) {
      throw new ValidationError(`${field} has more than ${scale} decimals`, { field });
    }
    if (!decimal.isZero() && decimal.e >= integerDigits) {
      throw new ValidationError(
        `${field} is out of range: at most ${integerDigits} digits before the point`,
        { field },
      );
    }
    return decimal.toFixed();
  };
}

function patternOf({ precision, scale }: DecimalType): string {
  const whole = precision === scale ? '0' : `(0|[1-9][0-9]{0,${precision - scale - 1}})`;
  return scale === 0 ? `^-?${whole}$` : `^-?${whole}(\\.[0-9]{1,${scale}})?$`;
}

/** The same for a decimal that is sent as a number. */
function rangeOf({ precision, scale }: DecimalType): JsonPart {
  const bound = Number(`1e${precision - scale}`);
  return { exclusiveMinimum: -bound, exclusiveMaximum: bound, multipleOf: Number(`1e-${scale}`) };
}
