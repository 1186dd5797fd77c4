import type {
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  ObjectType,
} from '../../../runtime/domain/descriptor.js';
import { tagsOf } from '../../../runtime/domain/kinds/document-kinds.js';
import { jsonKindOf, partsOf } from '../../../runtime/domain/kinds/kinds.js';
import { camelCase } from '../../schema/naming.js';
import type { FileScope } from '../file-scope.js';
import { literal, propertyKey } from '../print/literal.js';
import { commentText, type DocView, docView, memberName, quote } from '../print/strings.js';

/** The place of a value: a `param` is sent, an `answer` is received and read, `stored` is JSON that stays unchanged. */
export type ValueUse = 'param' | 'answer' | 'stored';

/** A named type that the client declares: an object with members, or a union. */
export interface ClientTypeView extends DocView {
  readonly name: string;
  readonly members: readonly TypeMemberView[];
  /** Types of the union; empty for an object with members. */
  readonly union: readonly string[];
}

/** A member of an object type. */
export interface TypeMemberView extends DocView {
  /** In quotes if it is not an identifier; with a question mark if it is optional. */
  readonly name: string;
  readonly type: string;
}

/** The reader of one type of response, or the names of the fields that it always has. */
export interface ReaderView {
  /** Local variable. */
  readonly variable: string;
  /** Its type. */
  readonly type: string;
  /** Printed value. */
  readonly text: string;
}

/** A type as callers of the client see it. */
interface Shown {
  readonly text: string;
  /** What converts the JSON of an answer to dates and bigints; undefined if it has neither. */
  readonly reader?: string | undefined;
}

/** The fields of an object. */
interface ShownFields {
  readonly members: readonly Member[];
  readonly reader: string | undefined;
}

interface Member {
  readonly doc: string | undefined;
  readonly name: string;
  readonly type: string;
}

/**
 * Prints field types as callers of the client see them, with the readers of answers. Collects the types that need a
 * name, and the readers: a type without dates and bigints has none, so that clients load only what they use.
 */
export class ClientTypes {
  /** All named types, in order of first use. */
  readonly declared: ClientTypeView[] = [];
  /** Named readers, in dependency order: each comes before the readers that use it. */
  readonly readers: ReaderView[] = [];
  readonly #scope: FileScope;
  readonly #answers = new Map<ObjectType, Shown>();
  readonly #required = new Map<ObjectType, string>();
  readonly #recursive = new Map<string, Shown>();

  constructor(scope: FileScope) {
    this.#scope = scope;
  }

  /** Returns the name of a response type, and the variable of its reader. */
  answer(type: ObjectType): Shown {
    const known = this.#answers.get(type);
    if (known !== undefined) return known;
    const { name = 'Answer', fields, doc } = type;
    const text = this.#scope.reserve(name);
    const code = this.declare(text, fields, 'answer', doc);
    const shown = { text, reader: code === undefined ? undefined : this.#variable(name) };
    this.#answers.set(type, shown);
    this.#declareReader(shown.reader, code);
    return shown;
  }

  /** Returns the variable with the names of the fields that a response always has. */
  required(type: ObjectType): string {
    const known = this.#required.get(type);
    if (known !== undefined) return known;
    const variable = this.#variable(type.name ?? 'Answer', 'Fields');
    this.#required.set(type, variable);
    const names = type.fields.filter(({ optional }) => optional !== true).map(({ name }) => quote(name));
    this.readers.push({ variable, type: 'readonly string[]', text: `[${names.join(', ')}]` });
    return variable;
  }

  /** Declares an object type under a reserved name. @returns its reader */
  declare(name: string, fields: readonly FieldDescriptor[], use: ValueUse, doc?: string): string | undefined {
    const shown = this.#fields(fields, use, NONE);
    const members = shown.members.map(({ doc: ofMember, ...member }) => ({
      ...member,
      ...docView(ofMember),
    }));
    const union = members.length === 0 ? [NO_MEMBERS] : [];
    this.declared.push({ name, members, union, ...docView(doc) });
    return shown.reader;
  }

  /** Declares a union under a reserved name. */
  declareUnion(name: string, union: readonly string[]): void {
    this.declared.push({ name, members: [], union, ...docView(undefined) });
  }

  /** Returns an object with these fields, on one line. */
  object(fields: readonly FieldDescriptor[], use: ValueUse, open: OpenTypes = NONE): Shown {
    const shown = this.#fields(fields, use, open);
    const members = shown.members.map(({ doc, name, type }) => {
      const comment = doc === undefined ? '' : `/** ${commentText(doc).replaceAll('\n', ' ')} */ `;
      return `${comment}readonly ${name}: ${type}`;
    });
    return { text: members.length === 0 ? NO_MEMBERS : `{ ${members.join('; ')} }`, reader: shown.reader };
  }

  /** @param open the enclosing recursive types, by the name that `again` has */
  type(type: FieldType, use: ValueUse, open: OpenTypes = NONE): Shown {
    switch (type.kind) {
      case 'string':
      case 'number':
      case 'boolean':
        return { text: type.kind };
      case 'uuid':
      case 'currency':
        return { text: 'string' };
      case 'bigint':
        return converted('bigint', 'integer', use, this.#scope);
      case 'instant':
        return converted('Date', 'date', use, this.#scope);
      case 'decimal':
        return { text: this.#scope.runtimeType(use === 'param' ? 'DecimalInput' : 'Decimal') };
      case 'id':
        return { text: `${this.#scope.runtimeType('Id')}<${quote(type.model)}>` };
      case 'json':
        return { text: this.#scope.runtimeType('Json') };
      case 'enum':
        return { text: type.values.map(literal).join(' | ') || 'never' };
      case 'list':
      case 'record': {
        const { text, reader } = this.#item({ ...type, type: type.of }, use, open);
        return {
          text: type.kind === 'list' ? `ReadonlyArray<${text}>` : `Readonly<Record<string, ${text}>>`,
          reader: reader && pureCall(this.#scope, type.kind, [reader]),
        };
      }
      case 'tuple':
        return this.#tuple(type, use, open);
      case 'union':
        return this.#union(type, use, open);
      case 'recursive':
        return this.#recursion(type, use, open);
      case 'again': {
        const { text = this.#scope.runtimeType('Json'), reader } = open.get(type.name) ?? {};
        return { text, reader: reader && `(value) => ${this.#scope.runtimeValue('read')}(${reader}, value)` };
      }
      case 'object':
        return use === 'answer' && type.name !== undefined && open.size === 0
          ? this.answer(type)
          : this.object(type.fields, use, open);
    }
  }

  #fields(fields: readonly FieldDescriptor[], use: ValueUse, open: OpenTypes): ShownFields {
    const readers: [name: string, reader: string][] = [];
    const members = fields.map((field) => {
      const { name, doc, optional, default: absent } = field;
      const { text, reader } = this.#item(field, use, open);
      if (reader !== undefined) readers.push([name, reader]);
      const isOptional = optional === true || (use === 'param' && absent !== undefined);
      return {
        doc,
        name: `${memberName(name)}${isOptional ? '?' : ''}`,
        type: isOptional && use === 'param' ? `${text} | undefined` : text,
      };
    });
    return { members, reader: readers.length === 0 ? undefined : objectText(readers) };
  }

  #item({ type, nullable }: ItemDescriptor, use: ValueUse, open: OpenTypes): Shown {
    const { text, reader } = this.type(type, use, open);
    return { text: nullable === true ? `${text} | null` : text, reader };
  }

  #tuple({ items, rest }: Extract<FieldType, { kind: 'tuple' }>, use: ValueUse, open: OpenTypes): Shown {
    const places = items.map((item) => ({ ...item, ...this.#item(item, use, open) }));
    const others = rest === undefined ? undefined : this.#item(rest, use, open);
    const texts = places.map(({ text, optional }) => (optional === true ? `(${text})?` : text));
    const all = [...texts, ...(others === undefined ? [] : [`...ReadonlyArray<${others.text}>`])];
    const isPlain = [...places, others].every((place) => place?.reader === undefined);
    const list = `[${places.map(({ reader = 'undefined' }) => reader).join(', ')}]`;
    return {
      text: `readonly [${all.join(', ')}]`,
      reader: isPlain
        ? undefined
        : pureCall(this.#scope, 'tuple', [list, ...(others?.reader ? [others.reader] : [])]),
    };
  }

  #union(
    { of, discriminator }: Extract<FieldType, { kind: 'union' }>,
    use: ValueUse,
    open: OpenTypes,
  ): Shown {
    const objects: [tag: string, reader: string][] = [];
    const members: [kind: string, reader: string][] = [];
    const texts = of.map((member) => {
      const { text, reader } = this.type(member, use, open);
      if (reader === undefined) return text;
      const tags = tagsOf(member, discriminator);
      if (tags.length === 0) members.push([jsonKindOf(member), reader]);
      for (const tag of tags) objects.push([String(tag), reader]);
      return text;
    });
    if (objects.length > 0 && discriminator !== undefined)
      members.push(['object', pureCall(this.#scope, 'variant', [quote(discriminator), objectText(objects)])]);
    return {
      text: texts.join(' | '),
      reader: members.length === 0 ? undefined : pureCall(this.#scope, 'union', [objectText(members)]),
    };
  }

  /** A type that contains itself needs a name. */
  #recursion(type: Extract<FieldType, { kind: 'recursive' }>, use: ValueUse, open: OpenTypes): Shown {
    const key = `${use} ${JSON.stringify([...open])} ${JSON.stringify(type)}`;
    const known = this.#recursive.get(key);
    if (known !== undefined) return known;
    const plain = type.name.replace(/\W/g, '');
    const text = this.#scope.reserve(`${plain === '' ? 'Nested' : plain}${SUFFIXES[use]}`);
    const shown = {
      text,
      reader: use === 'answer' && converts(type.of) ? this.#variable(type.name) : undefined,
    };
    this.#recursive.set(key, shown);
    const inner = this.type(type.of, use, new Map([...open, [type.name, shown]]));
    this.declareUnion(text, [inner.text]);
    this.#declareReader(shown.reader, inner.reader);
    return shown;
  }

  #variable(name: string, role = 'Reader'): string {
    return this.#scope.reserve(`${camelCase(name.replace(/\W/g, '')) || 'nested'}${role}`);
  }

  #declareReader(variable: string | undefined, text: string | undefined): void {
    if (variable === undefined || text === undefined) return;
    this.readers.push({ variable, type: this.#scope.runtimeType('Reader'), text });
  }
}

type OpenTypes = ReadonlyMap<string, Shown>;

const NONE: OpenTypes = new Map();

const NO_MEMBERS = 'Readonly<Record<never, never>>';

const SUFFIXES: Readonly<Record<ValueUse, string>> = { answer: '', param: 'Input', stored: 'Json' };

/** A type that JSON has as a text. */
function converted(text: string, reader: string, use: ValueUse, scope: FileScope): Shown {
  if (use === 'stored') return { text: 'string' };
  return { text, reader: use === 'answer' ? scope.runtimeValue(reader) : undefined };
}

/** Returns a marked call: bundlers remove unused calls only with the mark. */
function pureCall(scope: FileScope, reader: string, args: readonly string[]): string {
  return `/* @__PURE__ */ ${scope.runtimeValue(reader)}(${args.join(', ')})`;
}

function objectText(entries: readonly (readonly [name: string, reader: string])[]): string {
  return `{ ${[...new Map(entries)].map(([name, reader]) => `${propertyKey(name)}: ${reader}`).join(', ')} }`;
}

/** Whether a type contains dates or bigints. References to an enclosing type do not count. */
function converts(type: FieldType): boolean {
  return type.kind === 'instant' || type.kind === 'bigint' || partsOf(type).some(converts);
}
