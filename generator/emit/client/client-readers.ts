import type { FieldType, ObjectType } from '../../../runtime/domain/descriptor.js';
import { jsonKindOf, partsOf } from '../../../runtime/domain/kinds/kinds.js';
import { camelCase } from '../../schema/naming.js';
import type { FileScope } from '../file-scope.js';
import { propertyKey } from '../print/literal.js';
import { quote } from '../print/strings.js';

/** The reader of one type of response, or the names of the fields that it always has. */
export interface ReaderView {
  /** Local variable. */
  readonly variable: string;
  /** Its type. */
  readonly type: string;
  /** Printed value. */
  readonly text: string;
}

/**
 * Prints readers, which convert the JSON of responses to dates and bigints. A type without either has no reader, so
 * that clients load only what they use.
 */
export class ClientReaders {
  readonly #scope: FileScope;
  readonly #objects = new Map<ObjectType, string | undefined>();
  readonly #recursive = new Map<string, string | undefined>();
  readonly #required = new Map<ObjectType, string>();
  readonly #views: ReaderView[] = [];

  constructor(scope: FileScope) {
    this.#scope = scope;
  }

  /** Named readers, in dependency order: each comes before the readers that use it. */
  get views(): readonly ReaderView[] {
    return this.#views;
  }

  /** Returns the variable of a response's reader; undefined if its JSON needs no conversion. */
  answer(type: ObjectType): string | undefined {
    if (this.#objects.has(type)) return this.#objects.get(type);
    const code = this.#fields(type, NONE);
    const variable = code === undefined ? undefined : this.#variable(type.name ?? 'Answer');
    this.#objects.set(type, variable);
    if (variable !== undefined) this.#declare(variable, code);
    return variable;
  }

  /** Returns the variable with the names of the fields that a response always has. */
  required(type: ObjectType): string {
    let variable = this.#required.get(type);
    if (variable !== undefined) return variable;
    variable = this.#variable(type.name ?? 'Answer', 'Fields');
    this.#required.set(type, variable);
    const names = type.fields.filter(({ optional }) => optional !== true).map(({ name }) => quote(name));
    this.#views.push({ variable, type: 'readonly string[]', text: `[${names.join(', ')}]` });
    return variable;
  }

  /** @param open readers of the enclosing recursive types, by the name that `again` has */
  #reader(type: FieldType, open: OpenReaders): string | undefined {
    switch (type.kind) {
      case 'instant':
        return this.#scope.runtimeValue('date');
      case 'bigint':
        return this.#scope.runtimeValue('integer');
      case 'list':
      case 'record': {
        const item = this.#reader(type.of, open);
        return item === undefined ? undefined : this.#pureCall(type.kind, [item]);
      }
      case 'tuple': {
        const places = type.items.map((item) => this.#reader(item.type, open) ?? UNDEFINED);
        const rest = type.rest === undefined ? undefined : this.#reader(type.rest.type, open);
        if (rest === undefined && places.every((place) => place === UNDEFINED)) return undefined;
        const list = `[${places.join(', ')}]`;
        return this.#pureCall('tuple', rest === undefined ? [list] : [list, rest]);
      }
      case 'union':
        return this.#union(type, open);
      case 'recursive':
        return this.#recursion(type, open);
      case 'again': {
        const variable = open.get(type.name);
        if (variable === undefined) return undefined;
        return `(value) => ${this.#scope.runtimeValue('read')}(${variable}, value)`;
      }
      case 'object':
        return type.name === undefined || open.size > 0 ? this.#fields(type, open) : this.answer(type);
      default:
        return undefined;
    }
  }

  #fields({ fields }: ObjectType, open: OpenReaders): string | undefined {
    const entries = fields.flatMap(({ name, type }) => {
      const reader = this.#reader(type, open);
      return reader === undefined ? [] : [[name, reader] as const];
    });
    return entries.length === 0 ? undefined : objectText(entries);
  }

  #union(
    { of, discriminator }: Extract<FieldType, { kind: 'union' }>,
    open: OpenReaders,
  ): string | undefined {
    const objects: (readonly [tag: string, reader: string])[] = [];
    const members: (readonly [kind: string, reader: string])[] = [];
    for (const member of of) {
      const reader = this.#reader(member, open);
      if (reader === undefined) continue;
      const tags = discriminator === undefined ? undefined : tagsOf(member, discriminator);
      if (tags === undefined) members.push([jsonKindOf(member), reader]);
      else objects.push(...tags.map((tag) => [tag, reader] as const));
    }
    if (objects.length > 0 && discriminator !== undefined)
      members.push(['object', this.#pureCall('variant', [quote(discriminator), objectText(objects)])]);
    return members.length === 0 ? undefined : this.#pureCall('union', [objectText(members)]);
  }

  #recursion(type: Extract<FieldType, { kind: 'recursive' }>, open: OpenReaders): string | undefined {
    const key = `${JSON.stringify([...open])} ${JSON.stringify(type)}`;
    if (!this.#recursive.has(key)) {
      const variable = converts(type.of) ? this.#variable(type.name) : undefined;
      this.#recursive.set(key, variable);
      if (variable !== undefined) {
        this.#declare(variable, this.#reader(type.of, new Map([...open, [type.name, variable]])));
      }
    }
    return this.#recursive.get(key);
  }

  #variable(name: string, role = 'Reader'): string {
    return this.#scope.reserve(`${camelCase(name.replace(/\W/g, '')) || 'nested'}${role}`);
  }

  #declare(variable: string, text: string | undefined): void {
    if (text === undefined) return;
    this.#views.push({ variable, type: this.#scope.runtimeType('Reader'), text });
  }

  /** Returns a marked call: bundlers remove unused calls only with the mark. */
  #pureCall(reader: string, args: readonly string[]): string {
    return `/* @__PURE__ */ ${this.#scope.runtimeValue(reader)}(${args.join(', ')})`;
  }
}

type OpenReaders = ReadonlyMap<string, string>;

const NONE: OpenReaders = new Map();
const UNDEFINED = 'undefined';

function objectText(entries: readonly (readonly [name: string, reader: string])[]): string {
  return `{ ${[...new Map(entries)].map(([name, reader]) => `${propertyKey(name)}: ${reader}`).join(', ')} }`;
}

/** Whether a type contains dates or bigints. References to an enclosing type do not count. */
function converts(type: FieldType): boolean {
  return type.kind === 'instant' || type.kind === 'bigint' || partsOf(type).some(converts);
}

/** The literals that identify an object in a union; undefined for a member that is not an object. */
function tagsOf(type: FieldType, discriminator: string): readonly string[] | undefined {
  if (type.kind === 'recursive') return tagsOf(type.of, discriminator);
  const field = type.kind === 'object' ? type.fields.find(({ name }) => name === discriminator) : undefined;
  return field?.type.kind === 'enum' ? field.type.values.map(String) : undefined;
}
