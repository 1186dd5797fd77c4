/** Short spellings of built-in types, by their long ones. */
const SHORT: Readonly<Record<string, string>> = {
  bool: 'boolean',
  char: 'character',
  decimal: 'numeric',
  float: 'double precision',
  float4: 'real',
  float8: 'double precision',
  int: 'integer',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  'timestamp with time zone': 'timestamptz',
  'timestamp without time zone': 'timestamp',
  'time with time zone': 'timetz',
  'time without time zone': 'time',
  varchar: 'character varying',
  varbit: 'bit varying',
};

const TYPE = /^([a-z_][a-z0-9_ ]*?) ?(?:\(([^)]*)\))?( with(?:out)? time zone)? ?((?:\[\])*)$/;

/**
 * The normal spelling of a type: `DECIMAL(19, 4)` and `numeric(19,4)` are equal. Unknown types are returned unchanged.
 */
export function normalizeType(type: string): string {
  const text = type.trim().toLowerCase().replace(/\s+/g, ' ');
  const match = TYPE.exec(text);
  if (match === null) return text;
  const [, word = '', parameters, zone = '', array = ''] = match;
  const name = SHORT[`${word}${zone}`] ?? `${word}${zone}`;
  return `${name}${parametersOf(name, parameters)}${array}`;
}

function parametersOf(name: string, parameters: string | undefined): string {
  if (parameters === undefined) return name === 'character' ? '(1)' : '';
  const list = parameters.split(',').map((part) => part.trim());
  // `numeric(19)` has the scale 0.
  return `(${(name === 'numeric' && list.length === 1 ? [...list, '0'] : list).join(',')})`;
}

const INTEGER_BITS: Readonly<Record<string, number>> = { smallint: 16, integer: 32 };

/**
 * The check of a type that limits texts or integers. It returns what is wrong with the text of a value.
 *
 * @param type in its normal spelling @returns undefined for any other type
 */
export function limitOf(type: string): ((text: string) => string | undefined) | undefined {
  const length = /^character(?: varying)?\((\d+)\)$/.exec(type)?.[1];
  if (length !== undefined)
    return (text) =>
      text.length > Number(length) && [...text].length > Number(length)
        ? `has more than ${length} characters`
        : undefined;
  const bits = INTEGER_BITS[type];
  if (bits === undefined) return undefined;
  const bound = 2 ** (bits - 1);
  return (text) => {
    const value = Number(text);
    return Number.isInteger(value) && value >= -bound && value < bound
      ? undefined
      : `must be an integer of ${bits} bits`;
  };
}
