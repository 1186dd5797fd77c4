import type { DataSourceConfig, MemberConfig, ShardingTopology } from '../../config/types.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';

/** Changes of one member. */
export type Change = (member: MemberConfig) => MemberConfig;

/** A change of a member's primary data source. */
export const withPrimary =
  (source: Partial<DataSourceConfig>): Change =>
  (member) => ({ ...member, primary: { ...member.primary, ...source } });

/** The topology with its members changed; those without a value are removed. */
export function changedMembers(
  topology: ShardingTopology,
  change: (member: MemberConfig) => MemberConfig | undefined,
): ShardingTopology {
  const groups = topology.groups.map((group) => ({
    ...group,
    members: group.members.map(change).filter((member) => member !== undefined),
  }));
  return { ...topology, groups };
}

/** The primary data source of a shard. */
export function primaryOf({ groups }: ShardingTopology, shard: ShardIdentifier): DataSourceConfig {
  const member = groups.flatMap(({ members }) => members).find((each) => each.shard === shard);
  if (member === undefined) throw new Error(`No shard ${shard}`);
  return member.primary;
}
