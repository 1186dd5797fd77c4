/** What to write instead of a type that neither a row nor a JSON body can contain. */
export const HINTS = {
  any: 'Write a specific type, or `unknown` for any JSON value.',
  base: "Extend only object types with known fields: `interface Parcel extends Pick<Address, 'street'> { readonly weight: number }`.",
  crossed:
    "Both sides have a field with different types. Remove it from one side: `Omit<Address, 'zip'> & { readonly zip: string }`.",
  enum: "Set every member of the enum to a string or a number: `OPEN = 'OPEN'`.",
  function: "JSON has no functions. Use names of functions: `'add' | 'remove'`.",
  instance: 'Data is not an instance of a class. Declare an interface.',
  item: 'Items of a list cannot be undefined or models. Write `T | null` for an item that may be missing.',
  keys: "Use string keys (`Record<string, T>`) or literal keys (`Record<'day' | 'month', T>`).",
  member:
    'Data has only properties. Remove methods, and replace an index signature with a field: `readonly entries: Record<string, T>;`.',
  object: 'Write its fields, or `Readonly<Record<string, JsonValue>>`.',
  spelling: "Its type argument must be a union of string literals: `Uppercase<'x' | 'y'>`.",
  symbol: 'JSON has no symbols. Write `string`, or a union of literals.',
  template:
    'Use only unions of literals in it, or a string with a pattern: `/** @pattern ^order-.*$ */ readonly code: string;`.',
  tooLarge: 'It expands to too many types. Split it, or write `JsonValue`.',
  tuple: 'Only the last element of a tuple can be a rest element: `[string, ...number[]]`.',
  value:
    "Declare the value as a constant in a file of this project: `export const STATES = ['OPEN', 'DONE'] as const;`.",
} as const;

/** What to write instead of a class of the language, by its name. */
export const CLASS_HINTS: ReadonlyMap<string, string> = new Map(
  [
    { names: 'Map ReadonlyMap WeakMap', form: '`Record<string, T>`' },
    { names: 'Set ReadonlySet WeakSet', form: '`readonly T[]`' },
    { names: 'Uint8Array Buffer ArrayBuffer URL RegExp Error', form: '`string`' },
    { names: 'Float32Array Float64Array Int32Array Uint32Array', form: '`readonly number[]`' },
    { names: 'Object', form: '`JsonValue`' },
    { names: 'Promise', form: 'the type of its value' },
  ].flatMap(({ names, form }) => names.split(' ').map((name) => [name, `Use plain data: ${form}.`] as const)),
);
