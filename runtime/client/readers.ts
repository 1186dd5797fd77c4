/** Converts the JSON of a response to values. Fields without an entry stay unchanged. */
export type Reader = ((value: never) => unknown) | { readonly [field: string]: Reader };

/** Returns a value of JSON as its reader converts it. */
export function read(reader: Reader | undefined, value: unknown): unknown {
  if (!reader || value === null || value === undefined) return value;
  if (typeof reader === 'function') return reader(value as never);
  const copy = { ...(value as Record<string, unknown>) };
  for (const [field, part] of Object.entries(reader))
    if (field in copy) copy[field] = read(part, copy[field]);
  return copy;
}

/** Reads a date. */
export const date = (value: string): Date => new Date(value);

/** Reads a bigint. */
export const integer = (value: string): bigint => BigInt(value);

/** Reads the items of a list. */
export const list =
  (item: Reader) =>
  (value: readonly unknown[]): unknown =>
    value.map((each) => read(item, each));

/** Reads the values of an object with any keys. */
export const record =
  (item: Reader) =>
  (value: object): unknown =>
    Object.fromEntries(Object.entries(value).map(([key, each]) => [key, read(item, each)]));

/** Reads the elements of a tuple. @param rest reader of further elements */
export const tuple =
  (places: readonly (Reader | undefined)[], rest?: Reader) =>
  (value: readonly unknown[]): unknown =>
    value.map((each, index) => read(index < places.length ? places[index] : rest, each));

/** Reads one of several types. @param members readers by the kind of the JSON value */
export const union =
  (members: { readonly [kind: string]: Reader }) =>
  (value: unknown): unknown =>
    read(members[Array.isArray(value) ? 'array' : typeof value], value);

/** Reads one of several objects. @param members readers by the discriminator's value */
export const variant =
  (field: string, members: { readonly [tag: string]: Reader }) =>
  (value: { readonly [field: string]: unknown }): unknown =>
    read(members[String(value[field])], value);
