import type { ShardingTopology } from '../config/types.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { registeredProcesses, topologyFingerprint } from '../sharding/process-register.js';
import { type Finding, fault, ok, warning } from './finding.js';

/** Lists the serving processes, and checks whether they run the topology of this file. */
export async function checkProcesses(
  topology: ShardingTopology,
  databases: DatabaseRegistry,
): Promise<readonly Finding[]> {
  const wanted = topologyFingerprint(topology);
  try {
    const processes = await registeredProcesses(databases);
    return processes.flatMap(
      ({ name, topology: found, since, silentForSeconds, withheld }): readonly Finding[] => {
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
      },
    );
  } catch {
    // The checks of the default shard report the failure.
    return [];
  }
}

function withheldFinding(process: string, shard: string): Finding {
  const advice = 'Repair the shard. The process then puts it into service automatically.';
  return { subject: process, ...fault('in service', `serves without shard ${shard}`, advice) };
}
