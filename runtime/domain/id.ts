import { ValidationError } from '../errors.js';
import { uuid7 } from './id-source.js';
import { ShardIdentifier } from './shard-identifier.js';
import { storedName } from './stored-names.js';
import { parseUuid, type Uuid } from './uuid.js';

/** A model class as a value, for `Id.of(Wallet, ...)`. Constructors of models are protected. */
export interface ModelClass<M> {
  readonly name: string;
  readonly prototype: M;
}

/** The id of one model: a UUID with the name of its model class. Immutable; compare with `equals`. */
export class Id<M> {
  /** Type only: keeps `Id<Wallet>` and `Id<Order>` apart. */
  declare protected readonly modelType?: M;

  /** Simple name of the model class. */
  readonly modelName: string;
  readonly #value: Uuid;

  protected constructor(modelName: string, value: Uuid) {
    this.modelName = modelName;
    this.#value = value;
  }

  /** The id with this UUID. Upper case is converted to lower case. @throws ValidationError for another text */
  static of<M>(modelClass: ModelClass<M>, uuid: string): Id<M> {
    return new Id<M>(storedName(modelClass), parseUuid(uuid));
  }

  /** The UUID in canonical text form. */
  getValue(): Uuid {
    return this.#value;
  }

  equals(other: Id<unknown> | undefined | null): boolean {
    return other instanceof Id && other.#value === this.#value && other.modelName === this.modelName;
  }

  toString(): string {
    return this.#value;
  }

  toJSON(): string {
    return this.#value;
  }
}

/**
 * An id that contains its shard: a UUID of version 7 with 8 group bits and 6 member bits directly after the variant
 * (the fourth block of the text is `8000` for (0, 0), `8040` for (1, 0), `bfff` for (255, 63)).
 */
export class ShardedId<M> extends Id<M> {
  #shard: ShardIdentifier | undefined;

  /** A new id on this shard. Ids of one process strictly increase. */
  static generate<M>(modelClass: ModelClass<M>, shard: ShardIdentifier): ShardedId<M> {
    return new ShardedId<M>(storedName(modelClass), uuid7.next(shard.bits));
  }

  /** The id with this UUID. @throws ValidationError unless it is a UUID of version 7 with the RFC 9562 variant */
  static override of<M>(modelClass: ModelClass<M>, uuid: string): ShardedId<M> {
    return ShardedId.named<M>(storedName(modelClass), uuid);
  }

  /** As `of`, for callers that have the simple name of the model. */
  static named<M>(modelName: string, uuid: string): ShardedId<M> {
    const value = parseUuid(uuid);
    if (!isVersion7(value)) {
      throw new ValidationError(`Not the id of a sharded model (a UUID of version 7 is expected): ${value}`);
    }
    return new ShardedId<M>(modelName, value);
  }

  /**
   * As `named`, for a text that is known to be a canonical version 7 UUID: a primary key, which the database checks.
   */
  static trusted<M>(modelName: string, value: Uuid): ShardedId<M> {
    return new ShardedId<M>(modelName, value);
  }

  /** The shard encoded in this id. */
  resolveShardIdentifier(): ShardIdentifier {
    this.#shard ??= shardOfUuid(this.getValue());
    return this.#shard;
  }
}

/** True for the canonical text of a UUID of version 7 with the RFC 9562 variant. */
export function isVersion7(uuid: Uuid): boolean {
  const variant = uuid.charCodeAt(19);
  return (
    uuid.charCodeAt(14) === 0x37 &&
    (variant === 0x38 || variant === 0x39 || variant === 0x61 || variant === 0x62)
  );
}

/** The shard in the bits of a version 7 UUID in canonical text form. */
export function shardOfUuid(uuid: Uuid): ShardIdentifier {
  return ShardIdentifier.fromBits(Number.parseInt(uuid.slice(19, 23), 16) & 0x3fff);
}

/** A plain `Id` for a caller that has the simple name of the model. */
export function idNamed<M>(modelName: string, uuid: string): Id<M> {
  return Id.of<M>({ name: modelName } as ModelClass<M>, uuid);
}
