import type {
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  ObjectType,
} from '../../../runtime/domain/descriptor.js';
import type { FileScope } from '../file-scope.js';
import { literal } from '../print/literal.js';
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

/** Prints field types as callers of the client see them, and collects the types that need a name. */
export class ClientTypes {
  readonly #scope: FileScope;
  readonly #names = new Map<ObjectType, string>();
  readonly #recursive = new Map<string, string>();
  readonly #declared: ClientTypeView[] = [];

  constructor(scope: FileScope) {
    this.#scope = scope;
  }

  /** All named types, in order of first use. */
  get declared(): readonly ClientTypeView[] {
    return this.#declared;
  }

  /** Returns the name of a response type. */
  answer(type: ObjectType): string {
    const known = this.#names.get(type);
    if (known !== undefined) return known;
    const name = this.#scope.reserve(type.name ?? 'Answer');
    this.#names.set(type, name);
    this.declare(name, type.fields, 'answer', type.doc);
    return name;
  }

  /** Declares an object type under a reserved name. */
  declare(name: string, fields: readonly FieldDescriptor[], use: ValueUse, doc?: string): void {
    const members = this.#members(fields, use, NONE).map(({ doc: ofMember, ...member }) => ({
      ...member,
      ...docView(ofMember),
    }));
    const union = members.length === 0 ? [NO_MEMBERS] : [];
    this.#declared.push({ name, members, union, ...docView(doc) });
  }

  /** Declares a union under a reserved name. */
  declareUnion(name: string, union: readonly string[]): void {
    this.#declared.push({ name, members: [], union, ...docView(undefined) });
  }

  /** Returns an object with these fields, on one line. */
  object(fields: readonly FieldDescriptor[], use: ValueUse, open: OpenTypes = NONE): string {
    const members = this.#members(fields, use, open).map(({ doc, name, type }) => {
      const comment = doc === undefined ? '' : `/** ${commentText(doc).replaceAll('\n', ' ')} */ `;
      return `${comment}readonly ${name}: ${type}`;
    });
    return members.length === 0 ? NO_MEMBERS : `{ ${members.join('; ')} }`;
  }

  /** @param open names of the enclosing recursive types, by the name that `again` has */
  type(type: FieldType, use: ValueUse, open: OpenTypes = NONE): string {
    switch (type.kind) {
      case 'string':
      case 'number':
      case 'boolean':
        return type.kind;
      case 'uuid':
      case 'currency':
        return 'string';
      case 'bigint':
        return use === 'stored' ? 'string' : 'bigint';
      case 'instant':
        return use === 'stored' ? 'string' : 'Date';
      case 'decimal':
        return this.#scope.runtimeType(use === 'param' ? 'DecimalInput' : 'Decimal');
      case 'id':
        return `${this.#scope.runtimeType('Id')}<${quote(type.model)}>`;
      case 'json':
        return this.#scope.runtimeType('Json');
      case 'enum':
        return type.values.map(literal).join(' | ') || 'never';
      case 'list':
        return `ReadonlyArray<${this.#item({ ...type, type: type.of }, use, open)}>`;
      case 'record':
        return `Readonly<Record<string, ${this.#item({ ...type, type: type.of }, use, open)}>>`;
      case 'tuple':
        return this.#tuple(type, use, open);
      case 'union':
        return type.of.map((member) => this.type(member, use, open)).join(' | ');
      case 'recursive':
        return this.#recursion(type, use, open);
      case 'again':
        return open.get(type.name) ?? this.#scope.runtimeType('Json');
      case 'object':
        return use === 'answer' && type.name !== undefined && open.size === 0
          ? this.answer(type)
          : this.object(type.fields, use, open);
    }
  }

  #members(fields: readonly FieldDescriptor[], use: ValueUse, open: OpenTypes): readonly Member[] {
    return fields.map(({ name, doc, type, nullable, optional, default: absent }) => {
      const isOptional = optional === true || (use === 'param' && absent !== undefined);
      const text = nullableText(this.type(type, use, open), nullable);
      return {
        doc,
        name: `${memberName(name)}${isOptional ? '?' : ''}`,
        type: isOptional && use === 'param' ? `${text} | undefined` : text,
      };
    });
  }

  #item({ type, nullable }: ItemDescriptor, use: ValueUse, open: OpenTypes): string {
    return nullableText(this.type(type, use, open), nullable);
  }

  #tuple({ items, rest }: Extract<FieldType, { kind: 'tuple' }>, use: ValueUse, open: OpenTypes): string {
    const places = items.map((item) => {
      const text = this.#item(item, use, open);
      return item.optional === true ? `(${text})?` : text;
    });
    const others = rest === undefined ? [] : [`...ReadonlyArray<${this.#item(rest, use, open)}>`];
    return `readonly [${[...places, ...others].join(', ')}]`;
  }

  /** A type that contains itself needs a name. */
  #recursion(type: Extract<FieldType, { kind: 'recursive' }>, use: ValueUse, open: OpenTypes): string {
    const key = `${use} ${JSON.stringify([...open])} ${JSON.stringify(type)}`;
    const known = this.#recursive.get(key);
    if (known !== undefined) return known;
    const plain = type.name.replace(/\W/g, '');
    const name = this.#scope.reserve(`${plain === '' ? 'Nested' : plain}${SUFFIXES[use]}`);
    this.#recursive.set(key, name);
    this.declareUnion(name, [this.type(type.of, use, new Map([...open, [type.name, name]]))]);
    return name;
  }
}

interface Member {
  readonly doc: string | undefined;
  readonly name: string;
  readonly type: string;
}

type OpenTypes = ReadonlyMap<string, string>;

const NONE: OpenTypes = new Map();

const NO_MEMBERS = 'Readonly<Record<never, never>>';

const SUFFIXES: Readonly<Record<ValueUse, string>> = { answer: '', param: 'Input', stored: 'Json' };

function nullableText(text: string, nullable: true | undefined): string {
  return nullable === true ? `${text} | null` : text;
}
