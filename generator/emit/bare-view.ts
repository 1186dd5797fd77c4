/**
 * Returns a view without the properties that objects and lists inherit. Handlebars finds a name with `in`, and would
 * render `{{constructor}}` as an empty text.
 */
export function bareView(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isBare(value)) return value;
  if (Array.isArray(value)) return Object.setPrototypeOf(value.map(bareView), BARE_LIST);
  const bare: Record<string, unknown> = Object.create(BARE_OBJECT);
  for (const [name, member] of Object.entries(value)) bare[name] = bareView(member);
  return bare;
}

/**
 * Without a prototype, objects and lists need their own conversion to text. A symbol, because templates cannot refer to
 * one.
 */
const BARE_OBJECT: object = Object.create(null, {
  [Symbol.toPrimitive]: { value: (): string => '[object Object]' },
});
const BARE_LIST: object = Object.create(null, {
  [Symbol.toPrimitive]: {
    value(this: ArrayLike<unknown>): string {
      return Array.from(this).join(',');
    },
  },
});

function isBare(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === BARE_OBJECT || prototype === BARE_LIST;
}
