/** A view of a JSON document of uncertain structure. Missing parts have views too: their `exists` is false. */
export class JsonView {
  readonly value: unknown;
  readonly #root: unknown;

  constructor(value: unknown, root: unknown = value) {
    this.value = value;
    this.#root = root;
  }

  get exists(): boolean {
    return this.value !== undefined;
  }

  /** A property of an object. */
  at(key: string): JsonView {
    return new JsonView(
      isRecord(this.value) && Object.hasOwn(this.value, key) ? this.value[key] : undefined,
      this.#root,
    );
  }

  /** The text here, or of a property; empty if there is none. */
  text(key?: string): string {
    const { value } = key === undefined ? this : this.at(key);
    return typeof value === 'string' ? value : '';
  }

  /** The items of a list. */
  items(): readonly JsonView[] {
    return Array.isArray(this.value) ? this.value.map((item) => new JsonView(item, this.#root)) : [];
  }

  /** The properties of an object. */
  entries(): readonly (readonly [string, JsonView])[] {
    if (!isRecord(this.value)) return [];
    return Object.entries(this.value).map(([key, value]) => [key, new JsonView(value, this.#root)] as const);
  }

  /** The target of `$ref` (`#/components/schemas/Wallet`), or this part itself. */
  resolved(): JsonView {
    const reference = this.text('$ref');
    if (!reference.startsWith('#/')) return this;
    const keys = reference.slice(2).split('/');
    return keys.reduce(
      (view, key) => view.at(key.replaceAll('~1', '/').replaceAll('~0', '~')),
      new JsonView(this.#root),
    );
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
