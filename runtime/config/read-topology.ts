import { ShardIdentifier } from '../domain/shard-identifier.js';
import * as keys from './key-catalogue.js';
import type { IntegerKey, Key } from './keys.js';
import type { Problems } from './problems.js';
import { databaseKey, readDataSource } from './read-data-source.js';
import type { SectionReader } from './section-reader.js';
import type { DataSourceConfig, GroupConfig, MemberConfig, ShardingTopology } from './types.js';
import { Unique } from './unique.js';

/** Reads `fw.sharding`. Undefined only if problems were reported. */
export function readTopology(section: SectionReader): ShardingTopology | undefined {
  const { problems } = section.context;
  const defaultSection = section.section(keys.defaultShard);
  const defaultShard =
    defaultSection && readShard(defaultSection, keys.defaultShardGroup, keys.defaultShardMember);
  const before = problems.count;
  const groups = readGroups(section);
  const complete = problems.count === before;
  const maximumConnections = section.integer(keys.maximumConnections);
  if (defaultShard === undefined || defaultSection === undefined) return undefined;
  // After a problem in a group, the intended shards are unknown.
  if (complete && !lists(groups, defaultShard)) {
    problems.add(defaultSection.place, {
      message: `the default shard ${defaultShard.toString()} is not listed under ${keys.groups.name}`,
    });
  }
  return { defaultShard, groups, ...(maximumConnections === undefined ? {} : { maximumConnections }) };
}

function lists(groups: readonly GroupConfig[], shard: ShardIdentifier): boolean {
  return groups.some((group) => group.members.some((member) => member.shard === shard));
}

function readShard(
  section: SectionReader,
  group: IntegerKey,
  member: IntegerKey,
): ShardIdentifier | undefined {
  const groupNumber = section.integer(group);
  const memberNumber = section.integer(member);
  if (groupNumber === undefined || memberNumber === undefined) return undefined;
  return ShardIdentifier.of(groupNumber, memberNumber);
}

function readGroups(section: SectionReader): readonly GroupConfig[] {
  const { problems } = section.context;
  const identity = new Identity(problems, 'group');
  const databases = new Unique<string>(problems, 'database');
  return section.list(keys.groups).flatMap((entry): GroupConfig[] => {
    const { number: group, name } = identity.read(entry, keys.group, keys.groupName);
    const members = readMembers(entry, group, databases);
    return group === undefined || name === undefined ? [] : [{ group, name, members }];
  });
}

function readMembers(
  section: SectionReader,
  group: number | undefined,
  databases: Unique<string>,
): readonly MemberConfig[] {
  const identity = new Identity(section.context.problems, 'member');
  return section.list(keys.members).flatMap((entry): MemberConfig[] => {
    const { number: member, name } = identity.read(entry, keys.member, keys.memberName);
    const placement = { weight: entry.integer(keys.weight), draining: entry.boolean(keys.draining) };
    const configs = readConfigs(entry, databases);
    if (group === undefined || member === undefined || name === undefined || configs === undefined) return [];
    return [{ shard: ShardIdentifier.of(group, member), name, ...placement, ...configs }];
  });
}

/** Checks that numbers and names of groups, or of the members of one group, are unique. */
class Identity {
  readonly #numbers: Unique<number>;
  readonly #names: Unique<string>;

  constructor(problems: Problems, what: 'group' | 'member') {
    this.#numbers = new Unique(problems, `${what} number`);
    this.#names = new Unique(problems, `${what} name`);
  }

  read(
    section: SectionReader,
    numberKey: IntegerKey,
    nameKey: typeof keys.groupName,
  ): { readonly number: number | undefined; readonly name: string | undefined } {
    const number = section.integer(numberKey);
    const name = section.text(nameKey);
    claim(this.#numbers, number, section, numberKey);
    claim(this.#names, name, section, nameKey);
    return { number, name };
  }
}

function claim<Value>(
  unique: Unique<Value>,
  value: Value | undefined,
  section: SectionReader,
  key: Key,
): void {
  const located = section.locate(key);
  if (value !== undefined && located !== undefined) unique.claim(value, located.place);
}

type Configs = Pick<MemberConfig, 'primary' | 'secondary' | 'others'>;

function readConfigs(section: SectionReader, databases: Unique<string>): Configs | undefined {
  const configs = section.section(keys.configs);
  if (configs === undefined) return undefined;
  const primarySection = configs.section(keys.primaryConfig);
  const primary = primarySection && readDataSource(primarySection);
  if (primarySection !== undefined && primary !== undefined) {
    claim(databases, databaseKey(primary.url), primarySection, keys.jdbcUrl);
  }
  const secondarySection = configs.section(keys.secondaryConfig);
  const secondary = secondarySection && readDataSource(secondarySection);
  const others: [string, DataSourceConfig][] = [];
  for (const [name, other] of configs.named()) {
    const config = readDataSource(other);
    if (config !== undefined) others.push([name, config]);
  }
  return primary && { primary, secondary, others: Object.fromEntries(others) };
}
