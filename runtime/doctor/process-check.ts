import type { ShardingTopology } from '../config/types.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { onEachShard, SHARDS_AT_ONCE } from '../sharding/each-shard.js';
import { registeredProcesses, topologyFingerprint } from '../sharding/process-register.js';
import { type Finding, fault, ok, warning } from './finding.js';

/**
 * Lists the serving processes, and checks whether they run the topology of this file. A process registers on its own
 * default shard, which may be another one than in this file, so each shard is asked.
 */
export async function checkProcesses(
  topology: ShardingTopology,
  databases: DatabaseRegistry,
  atOnce: number = SHARDS_AT_ONCE,
): Promise<readonly Finding[]> {
  const wanted = topologyFingerprint(topology);
  const outcomes = await onEachShard(databases.shards(), atOnce, (shard) =>
    registeredProcesses(databases.database(shard)),
  );
  // Other checks of a shard that does not answer report the failure.
  return outcomes
    .flatMap((outcome) => (outcome.ok ? outcome.value : []))
    .flatMap(({ name, topology: found, since, silentForSeconds, withheld }): readonly Finding[] => {
      if (silentForSeconds !== undefined) {
        const message = `has sent no heartbeat for ${silentForSeconds} s`;
        const hint =
          'It was killed, or it cannot reach the default shard. It leaves this list after 4 minutes.';
        return [{ subject: name, ...warning('topology', message, hint) }];
      }
      const runs = `runs topology ${found} since ${since.toISOString()}`;
      const advice = 'Deploy this file to the process, or wait until it reloads the file.';
      const check =
        found === wanted
          ? ok('topology', `${runs}, as in this file`)
          : warning('topology', `${runs}; this file has ${wanted}`, advice);
      return [{ subject: name, ...check }, ...withheld.map((shard) => withheldFinding(name, shard))];
    });
}

function withheldFinding(process: string, shard: string): Finding {
  const advice = 'Repair the shard. The process then puts it into service automatically.';
  return { subject: process, ...fault('in service', `serves without shard ${shard}`, advice) };
}
