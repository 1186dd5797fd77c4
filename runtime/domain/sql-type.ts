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
