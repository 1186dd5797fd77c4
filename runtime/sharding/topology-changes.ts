import { isDeepStrictEqual } from 'node:util';
import { databaseKey } from '../config/jdbc-url.js';
import type { DataSourceConfig, MemberConfig, ShardingTopology } from '../config/types.js';
import type { ShardIdentifier } from '../domain/shard-identifier.js';

/** One difference between two topologies. */
export type TopologyChange =
  | { readonly kind: 'shard-added' | 'shard-removed'; readonly shard: ShardIdentifier }
  /** Another server or database: requests of the shard wait until it is switched. */
  | { readonly kind: 'server'; readonly shard: ShardIdentifier }
  /** The same database with another pool: size, time-outs, user, password, TLS. */
  | { readonly kind: 'pool' | 'replica'; readonly shard: ShardIdentifier }
  /** Name, weight, draining, other named configurations: no connection is opened or closed. */
  | { readonly kind: 'settings'; readonly shard: ShardIdentifier; readonly what: string }
  | { readonly kind: 'group-renamed'; readonly group: number; readonly name: string }
  | { readonly kind: 'default-shard' }
  | { readonly kind: 'maximum-connections' };

/** The differences between two topologies, in the order of the configuration. */
export function topologyChanges(
  before: ShardingTopology,
  after: ShardingTopology,
): readonly TopologyChange[] {
  const [old, wanted] = [membersOf(before), membersOf(after)];
  const changes: TopologyChange[] = [];
  if (before.defaultShard !== after.defaultShard) changes.push({ kind: 'default-shard' });
  if (before.maximumConnections !== after.maximumConnections) changes.push({ kind: 'maximum-connections' });
  const names = new Map(before.groups.map(({ group, name }) => [group, name]));
  for (const { group, name } of after.groups) {
    if ((names.get(group) ?? name) !== name) changes.push({ kind: 'group-renamed', group, name });
  }
  for (const shard of old.keys()) if (!wanted.has(shard)) changes.push({ kind: 'shard-removed', shard });
  for (const [shard, member] of wanted) {
    const known = old.get(shard);
    if (known === undefined) changes.push({ kind: 'shard-added', shard });
    else changes.push(...memberChanges(known, member));
  }
  return changes;
}

/** A description of a change for logs. */
export function describeChange(change: TopologyChange): string {
  switch (change.kind) {
    case 'shard-added':
      return `shard ${change.shard} added`;
    case 'shard-removed':
      return `shard ${change.shard} removed`;
    case 'server':
      return `shard ${change.shard} moved to another server or database`;
    case 'pool':
      return `shard ${change.shard}: connection settings changed`;
    case 'replica':
      return `shard ${change.shard}: replica changed`;
    case 'settings':
      return `shard ${change.shard}: ${change.what}`;
    case 'group-renamed':
      return `group ${change.group} renamed to ${change.name}`;
    case 'default-shard':
      return 'the default shard changed';
    case 'maximum-connections':
      return 'maximum-connections changed';
  }
}

export function membersOf(topology: ShardingTopology): ReadonlyMap<ShardIdentifier, MemberConfig> {
  return new Map(topology.groups.flatMap(({ members }) => members).map((member) => [member.shard, member]));
}

/** A topology in which only the primary of one member is another one. */
export function withPrimary(
  topology: ShardingTopology,
  { shard, primary }: Pick<MemberConfig, 'shard' | 'primary'>,
): ShardingTopology {
  const groups = topology.groups.map((group) => ({
    ...group,
    members: group.members.map((member) => (member.shard === shard ? { ...member, primary } : member)),
  }));
  return { ...topology, groups };
}

function memberChanges(before: MemberConfig, after: MemberConfig): readonly TopologyChange[] {
  const { shard } = after;
  const changes: TopologyChange[] = [];
  if (databaseKey(before.primary.url) !== databaseKey(after.primary.url))
    changes.push({ kind: 'server', shard });
  else if (!sameSource(before.primary, after.primary)) changes.push({ kind: 'pool', shard });
  if (!sameSource(before.secondary, after.secondary)) changes.push({ kind: 'replica', shard });
  const settings: readonly (readonly [boolean, string])[] = [
    [before.name !== after.name, `renamed to ${after.name}`],
    [(before.weight ?? 1) !== (after.weight ?? 1), `weight ${after.weight ?? 1}`],
    [
      (before.draining ?? false) !== (after.draining ?? false),
      after.draining === true ? 'drains' : 'takes new ids',
    ],
    [!sameSources(before.others, after.others), 'further configurations changed'],
  ];
  for (const [differs, what] of settings) if (differs) changes.push({ kind: 'settings', shard, what });
  return changes;
}

/** A rotated password is another one, although secrets look alike. */
function sameSource(left: DataSourceConfig | undefined, right: DataSourceConfig | undefined): boolean {
  return isDeepStrictEqual(left, right) && left?.password?.reveal() === right?.password?.reveal();
}

function sameSources(left: MemberConfig['others'], right: MemberConfig['others']): boolean {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => sameSource(left[name], right[name]));
}
