import type {
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  ObjectType,
} from '../../../runtime/domain/descriptor.js';
import type { Imports } from '../print/imports.js';
import { docComment, memberName, quote } from '../print/strings.js';

/** The place of a value: a `param` is sent, an `answer` is received and read, `stored` is JSON that stays unchanged. */
export type ValueUse = 'param' | 'answer' | 'stored';

/** A named type that the client declares. */
export interface DeclaredType {
  readonly name: string;
  readonly hasDoc: boolean;
  /** Comment above it, or ''. */
  readonly doc: string;
  /** Printed type. */
  readonly text: string;
}

/** Prints field types as callers of the client see them, and collects the types that need a name. */
export class ClientTypes {
  readonly #imports: Imports;
  readonly #runtime: string;
  readonly #names = new Map<ObjectType, string>();
  readonly #recursive = new Map<string, string>();
  readonly #declared: DeclaredType[] = [];

  /** @param runtime path of the emitted runtime of clients */
  constructor(imports: Imports, runtime: string) {
    this.#imports = imports;
    this.#runtime = runtime;
  }

  /** All named types, in order of first use. */
  get declared(): readonly DeclaredType[] {
    return this.#declared;
  }

  /** Returns the name of a response type. */
  answer(type: ObjectType): string {
    const known = this.#names.get(type);
    if (known !== undefined) return known;
    const name = this.#imports.reserve(type.name ?? 'Answer');
    this.#names.set(type, name);
    this.declare(name, this.object(type.fields, 'answer', 0), type.doc);
    return name;
  }

  /** Declares a type under a reserved name. */
  declare(name: string, text: string, doc?: string): void {
    this.#declared.push({
      name,
      hasDoc: doc !== undefined,
      doc: doc === undefined ? '' : docComment(doc),
      text,
    });
  }

  /** Prints an object with these fields over several lines. */
  object(fields: readonly FieldDescriptor[], use: ValueUse, indent: number, open: OpenTypes = NONE): string {
    if (fields.length === 0) return 'Readonly<Record<never, never>>';
    const margin = ' '.repeat(indent + 2);
    const members = fields.map((field) => {
      const { name, doc, type, nullable } = field;
      const isOptional = field.optional === true || (use === 'param' && field.default !== undefined);
      const comment = doc === undefined ? '' : `${margin}${docComment(doc, indent + 2)}\n`;
      const text = this.#nullable(this.type(type, use, indent + 2, open), nullable);
      const value = isOptional && use === 'param' ? `${text} | undefined` : text;
      return `${comment}${margin}readonly ${memberName(name)}${isOptional ? '?' : ''}: ${value};\n`;
    });
    return `{\n${members.join('')}${' '.repeat(indent)}}`;
  }

  /** @param open names of the enclosing recursive types, by the name that `again` has */
  type(type: FieldType, use: ValueUse, indent: number, open: OpenTypes = NONE): string {
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
        return this.#runtimeType(use === 'param' ? 'DecimalInput' : 'Decimal');
      case 'id':
        return `${this.#runtimeType('Id')}<${quote(type.model)}>`;
      case 'json':
        return this.#runtimeType('Json');
      case 'enum':
        return type.values.map(literalText).join(' | ') || 'never';
      case 'list':
        return `ReadonlyArray<${this.#item({ ...type, type: type.of }, use, indent, open)}>`;
      case 'record':
        return `Readonly<Record<string, ${this.#item({ ...type, type: type.of }, use, indent, open)}>>`;
      case 'tuple':
        return this.#tuple(type, use, indent, open);
      case 'union':
        return type.of.map((member) => this.type(member, use, indent, open)).join(' | ');
      case 'recursive':
        return this.#recursion(type, use, open);
      case 'again':
        return open.get(type.name) ?? this.#runtimeType('Json');
      case 'object':
        return use === 'answer' && type.name !== undefined && open.size === 0
          ? this.answer(type)
          : this.object(type.fields, use, indent, open);
    }
  }

  #item({ type, nullable }: ItemDescriptor, use: ValueUse, indent: number, open: OpenTypes): string {
    return this.#nullable(this.type(type, use, indent, open), nullable);
  }

  #tuple(
    { items, rest }: Extract<FieldType, { kind: 'tuple' }>,
    use: ValueUse,
    indent: number,
    open: OpenTypes,
  ): string {
    const places = items.map((item) => {
      const text = this.#item(item, use, indent, open);
      return item.optional === true ? `(${text})?` : text;
    });
    const others = rest === undefined ? [] : [`...ReadonlyArray<${this.#item(rest, use, indent, open)}>`];
    return `readonly [${[...places, ...others].join(', ')}]`;
  }

  /** A type that contains itself needs a name. */
  #recursion(type: Extract<FieldType, { kind: 'recursive' }>, use: ValueUse, open: OpenTypes): string {
    const key = `${use} ${JSON.stringify([...open])} ${JSON.stringify(type)}`;
    const known = this.#recursive.get(key);
    if (known !== undefined) return known;
    const plain = type.name.replace(/\W/g, '');
    const name = this.#imports.reserve(`${plain === '' ? 'Nested' : plain}${SUFFIXES[use]}`);
    this.#recursive.set(key, name);
    const text = this.type(type.of, use, 0, new Map([...open, [type.name, name]]));
    this.declare(name, text);
    return name;
  }

  #nullable(text: string, nullable: true | undefined): string {
    return nullable === true ? `${text} | null` : text;
  }

  #runtimeType(name: string): string {
    return this.#imports.type({ kind: 'file', file: this.#runtime, name });
  }
}

type OpenTypes = ReadonlyMap<string, string>;

const NONE: OpenTypes = new Map();

const SUFFIXES: Readonly<Record<ValueUse, string>> = { answer: '', param: 'Input', stored: 'Json' };

function literalText(value: string | number | boolean): string {
  return typeof value === 'string' ? quote(value) : String(value);
}
