import type { ShardingTopology } from '../config/types.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { type Finding, fault, ok, warning } from './finding.js';
import { ask } from './shard-checks.js';

interface ServerNeed {
  /** Host and port. */
  readonly address: string;
  /** A shard on this server, used to query it. */
  readonly shard: Parameters<DatabaseRegistry['database']>[0];
  connections: number;
}

/** Compares the maximum connections of one process's pools with the limit of each server. */
export async function checkBudget(
  topology: ShardingTopology,
  databases: DatabaseRegistry,
): Promise<readonly Finding[]> {
  const budget = topology.maximumConnections;
  const findings = [...needsOf(topology).values()].map((need) => checkServer(need, budget, databases));
  return Promise.all(findings);
}

function needsOf(topology: ShardingTopology): ReadonlyMap<string, ServerNeed> {
  const needs = new Map<string, ServerNeed>();
  for (const { shard, primary } of topology.groups.flatMap(({ members }) => members)) {
    if (primary.url.kind !== 'postgresql') continue;
    const address = `${primary.url.host}:${primary.url.port}`;
    const need = needs.get(address) ?? { address, shard, connections: 0 };
    need.connections += primary.maximumPoolSize;
    needs.set(address, need);
  }
  return needs;
}

async function checkServer(
  { address, shard, connections }: ServerNeed,
  budget: number | undefined,
  databases: DatabaseRegistry,
): Promise<Finding> {
  const needed = Math.min(connections, budget ?? Number.POSITIVE_INFINITY);
  try {
    const [maximum, used] = await ask(
      databases.database(shard),
      `select current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4,
        (select count(*)::int4 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid())`,
    );
    const found = `one process may open ${needed}; the server has ${String(maximum)}, ${String(used)} in use`;
    const advice =
      'Lower maximum-pool-size or maximum-connections, raise max_connections, or use a connection pooler.';
    if (needed > Number(maximum)) return { subject: address, ...fault('connections', found, advice) };
    if (needed + Number(used) > Number(maximum))
      return { subject: address, ...warning('connections', found, advice) };
    return { subject: address, ...ok('connections', found) };
  } catch {
    const advice = 'The server could not be queried; see the connection check.';
    return { subject: address, ...warning('connections', 'unknown', advice) };
  }
}
