/**
 * A view without the names that every object and list inherits. Handlebars knows a name by `in`, and would give an
 * empty text for `{{constructor}}`.
 */
export function bareView(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isBare(value)) return value;
  if (Array.isArray(value)) return Object.setPrototypeOf(value.map(bareView), BARE_LIST);
  const bare: Record<string, unknown> = Object.create(BARE_OBJECT);
  for (const [name, member] of Object.entries(value)) bare[name] = bareView(member);
  return bare;
}

/** How they are written where a text is wanted is no name that a template could speak of. */
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
