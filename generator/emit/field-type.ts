import type { NumericType } from '../../runtime/domain/decimal.js';
import type {
  FieldDescriptor,
  FieldType,
  ItemDescriptor,
  ObjectType,
} from '../../runtime/domain/descriptor.js';
import { referencesAround } from '../../runtime/domain/recursive-type.js';
import { parseNumeric } from '../schema/columns.js';
import { constraintsOf, DEFAULT_NUMERIC } from '../schema/constraints.js';
import { defined } from '../schema/defined.js';
import type { SourceLocation } from '../schema/location.js';
import { type ModelSchema, storedNameOf } from '../schema/project-schema.js';
import type { FieldSchema, ItemSchema, TypeSchema } from '../schema/type-schema.js';
import { discriminatorOf } from '../schema/unions.js';

/** An object type with a name in the sources. */
export interface NamedObject {
  readonly name: string;
  readonly description?: string;
  /** Project-relative path of its file; undefined if it is not exported. */
  readonly file?: string | undefined;
  readonly fields: readonly FieldSchema[];
}

/** Converts fields of the schema to the runtime's descriptors. */
export class FieldTypes {
  /** Names of the models with sharded ids. */
  readonly #sharded: ReadonlySet<string>;
  readonly #objects = new Map<string, ObjectType>();
  /** Fields that several declarations share are converted once. */
  readonly #fields = new Map<FieldSchema, FieldDescriptor>();
  readonly #locations: Map<FieldDescriptor, SourceLocation> | undefined;
  /** Number of recursive types around the current one. */
  #recursions = 0;

  /** @param options whether the run traces, see `locationOf` */
  constructor(models: readonly ModelSchema[], { isTracing = false }: { readonly isTracing?: boolean } = {}) {
    this.#sharded = new Set(models.filter(({ sharded }) => sharded).map(({ name }) => name));
    this.#locations = isTracing ? new Map() : undefined;
  }

  /** Returns the descriptor of a field. @param sqlType of its column, if it has one */
  field(field: FieldSchema, sqlType?: string): FieldDescriptor {
    const known = sqlType === undefined ? this.#fields.get(field) : undefined;
    if (known !== undefined) return known;
    const descriptor = this.#describe(field, sqlType);
    if (sqlType === undefined) this.#fields.set(field, descriptor);
    this.#locations?.set(descriptor, field.location);
    return descriptor;
  }

  #describe(field: FieldSchema, sqlType: string | undefined): FieldDescriptor {
    const { numeric, default: absent, label, secret, ...rules } = constraintsOf(field).constraints;
    const digits = sqlType === undefined ? numeric : (parseNumeric(sqlType) ?? numeric);
    return {
      name: field.name,
      type: this.type(field.type, digits),
      ...(field.optional ? { optional: true } : {}),
      ...(field.nullable ? { nullable: true } : {}),
      ...(secret === undefined ? {} : { secret }),
      ...(Object.keys(rules).length === 0 ? {} : { rules }),
      ...(absent === undefined ? {} : { default: absent }),
      ...(label === undefined ? {} : { label }),
      ...(field.description === undefined ? {} : { doc: field.description }),
    };
  }

  /** Returns the declaration that a descriptor was created from; undefined unless the run traces. */
  locationOf(descriptor: FieldDescriptor): SourceLocation | undefined {
    return this.#locations?.get(descriptor);
  }

  /** Returns the type of a named object: the same one for each reference. */
  named({ name, description, file, fields }: NamedObject): ObjectType {
    // Types that are not exported may have the same name. Their fields have different locations.
    const key = file === undefined ? `#${name} ${JSON.stringify(fields)}` : `${file}#${name}`;
    const known = this.#objects.get(key);
    if (known !== undefined) return known;
    const doc = description === undefined ? {} : { doc: description };
    const type = { kind: 'object', name, ...doc, fields: fields.map((each) => this.field(each)) } as const;
    this.#objects.set(key, type);
    return type;
  }

  /** Returns the type of a field, an item or a result. */
  type(type: TypeSchema, numeric: NumericType = DEFAULT_NUMERIC): FieldType {
    switch (type.kind) {
      case 'decimal':
        return { kind: 'decimal', precision: numeric.precision, scale: numeric.scale };
      case 'id':
        // An id carries its shard if the model is sharded, whether the source spells it `Id` or `ShardedId`.
        return { kind: 'id', model: storedNameOf(type.model), sharded: this.#sharded.has(type.model.name) };
      case 'enum':
        return { kind: 'enum', values: type.values };
      case 'list':
      case 'record':
        return defined({ kind: type.kind, of: this.type(type.of, numeric), nullable: type.nullable });
      case 'tuple':
        return {
          kind: 'tuple',
          items: type.items.map((item) => this.#item(item, numeric)),
          ...(type.rest === undefined ? {} : { rest: this.#item(type.rest, numeric) }),
        };
      case 'union': {
        const discriminator = discriminatorOf(type.of) ?? '';
        const of = type.of.map((member) =>
          member.kind === 'again'
            ? { kind: 'again' as const, name: member.name, tags: member.literals?.[discriminator] ?? [] }
            : this.type(member, numeric),
        );
        return { kind: 'union', of, ...(discriminator === '' ? {} : { discriminator }) };
      }
      case 'recursive': {
        this.#recursions += 1;
        const of = this.type(type.of, numeric);
        this.#recursions -= 1;
        return { kind: 'recursive', name: type.name, of };
      }
      case 'again':
        return { kind: 'again', name: type.name };
      case 'object': {
        const { name, fields, description, reference } = type;
        if (name === undefined || this.#recursions > 0) {
          const object = { kind: 'object', fields: fields.map((each) => this.field(each)) } as const;
          // The meaning of `again` depends on the types around an object, so such an object is not shared.
          if (name === undefined || referencesAround(object).size > 0) return object;
        }
        const file = reference?.kind === 'file' ? reference.file : undefined;
        return this.named({ name, fields, file, ...(description === undefined ? {} : { description }) });
      }
      case 'model':
      case 'void':
      case 'unsupported':
        throw new Error(`No field can be of kind ${type.kind}: the checks let it pass`);
      default:
        return { kind: type.kind };
    }
  }

  #item({ type, nullable, optional }: ItemSchema, numeric: NumericType): ItemDescriptor {
    return defined({ type: this.type(type, numeric), nullable, optional });
  }
}
