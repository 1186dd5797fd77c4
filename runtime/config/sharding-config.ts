import { deepFreeze } from './deep-freeze.js';
import type { ReadContext } from './key.js';
import { Problems } from './problems.js';
import { sharding } from './sharding-keys.js';
import type { DataSourceConfig, Secret, ShardingTopology } from './types.js';
import { readValue } from './value-source.js';

/** Optional properties, which may also be undefined. */
type Optional<Value> = { readonly [Name in keyof Value]?: Value[Name] | undefined };

/** `fw.sharding` as an object: the keys of the YAML in camelCase. */
export interface ShardingInput {
  readonly defaultShard: ShardInput;
  readonly maximumConnections?: number | undefined;
  readonly groups: readonly GroupInput[];
}

/** The number of a group and of a member, as in a `ShardIdentifier`. */
interface ShardInput {
  readonly group: number;
  readonly member: number;
}

/** A group of shards, as written in code or YAML. */
interface GroupInput {
  readonly group: number;
  readonly name: string;
  readonly members: readonly MemberInput[];
}

/** One shard of a group, as written in code or YAML. */
interface MemberInput {
  readonly member: number;
  readonly name: string;
  readonly weight?: number | undefined;
  readonly draining?: boolean | undefined;
  readonly configs: ConfigsInput;
}

/** The databases of a member. Names other than the first two are for the application. */
interface ConfigsInput {
  readonly primaryConfig: DataSourceInput;
  readonly secondaryConfig?: DataSourceInput | undefined;
  readonly [name: `${string}Config`]: DataSourceInput | undefined;
}

/** One database. Ranges and defaults equal those of the YAML keys. */
export interface DataSourceInput extends Optional<Omit<DataSourceConfig, 'url' | 'password'>> {
  readonly jdbcUrl: string;
  readonly password?: string | Secret | undefined;
  readonly driverClassName?: string | undefined;
}

/** Builds a sharding topology in code, without any YAML. */
export class ShardingConfig {
  private constructor() {}

  /**
   * Validates the structure exactly like the YAML under `fw.sharding`. Texts are taken literally: `${NAME}` is not
   * replaced.
   *
   * @param options.baseDirectory folder against which relative paths in URLs are resolved; by default the working
   *   directory
   * @returns the topology, deeply frozen
   * @throws ConfigurationError with all problems, which have key paths and no file
   */
  static of(input: ShardingInput, options: { readonly baseDirectory?: string } = {}): ShardingTopology {
    const problems = new Problems();
    const context: ReadContext = {
      problems,
      references: undefined,
      baseDirectory: options.baseDirectory ?? process.cwd(),
      claims: new Map(),
      style: 'camelCase',
    };
    const node = readValue(input);
    const place = { path: '', offset: undefined };
    if (node.kind !== 'map')
      problems.add(place, { message: 'the sharding configuration must be a plain object' });
    const topology = node.kind === 'map' ? sharding.read({ node, place }, context) : undefined;
    problems.throwIfAny();
    if (topology === undefined) throw new TypeError('a topology without a problem must have a result');
    return deepFreeze(topology);
  }
}
