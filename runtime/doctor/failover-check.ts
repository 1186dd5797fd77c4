import type { ShardIdentifier } from '../domain/shard-identifier.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { FailoverRegister } from '../sharding/failover-register.js';
import { findForeignLog } from '../sharding/log-server.js';
import { findLostCauses } from '../sharding/lost-causes.js';
import { type CheckResult, fault, warning } from './finding.js';

const ADVICE =
  'Compare the losses with other sources, repair the data, then run fw-gen events failovers --acknowledge.';

/** Checks whether delivery waits for a rebase, whether the shard has failed over, and what is known to be lost. */
export async function checkFailovers(
  databases: DatabaseRegistry,
  shard: ShardIdentifier,
): Promise<readonly CheckResult[]> {
  try {
    const database = databases.database(shard);
    const foreignLog = await findForeignLog(database);
    const stopped =
      foreignLog === undefined
        ? []
        : [fault('delivery', foreignLog.message, 'No event is delivered until then.')];
    const failovers = await new FailoverRegister(database).unacknowledged();
    const results = failovers.map(async (failover): Promise<CheckResult> => {
      const lost = [...failover.ahead, ...(await findLostCauses(databases, shard, failover))];
      const found = [failover.inWords, ...lost.slice(0, 3).map(({ inWords }) => inWords)].join('; ');
      const more = lost.length > 3 ? `; ${lost.length - 3} more` : '';
      return lost.length > 0 ? fault('failover', found + more, ADVICE) : warning('failover', found, ADVICE);
    });
    return [...stopped, ...(await Promise.all(results))];
  } catch {
    // Other checks report an unreachable database or a missing table.
    return [];
  }
}
