import type { ShardingTopology } from '../config/types.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { registeredProcesses, topologyFingerprint } from '../sharding/process-register.js';
import { type Finding, ok, warning } from './finding.js';

/** Which processes serve, and whether they run the topology of this file. */
export async function checkProcesses(
  topology: ShardingTopology,
  databases: DatabaseRegistry,
): Promise<readonly Finding[]> {
  const wanted = topologyFingerprint(topology);
  try {
    const processes = await registeredProcesses(databases);
    return processes.map(({ name, topology: found, since, silentForSeconds }) => {
      if (silentForSeconds !== undefined) {
        const message = `has not been heard of for ${silentForSeconds} s`;
        const hint =
          'It was killed, or it cannot reach the default shard. It leaves this list after 4 minutes.';
        return { subject: name, ...warning('topology', message, hint) };
      }
      const runs = `runs topology ${found} since ${since.toISOString()}`;
      return {
        subject: name,
        ...(found === wanted
          ? ok('topology', `${runs}, which is this file's`)
          : warning(
              'topology',
              `${runs}; this file's is ${wanted}`,
              'Give it this file, or wait for its reload.',
            )),
      };
    });
  } catch {
    // Told of by the checks of the default shard.
    return [];
  }
}
