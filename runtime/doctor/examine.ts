import type { ShardingTopology } from '../config/types.js';
import { messageOf } from '../errors.js';
import type { Migration } from '../migration/migration.js';
import { migrationStatus, type ShardMigrationStatus } from '../migration/migration-status.js';
import { findDrift, type ShardDrift } from '../migration/shard-drift.js';
import type { ExpectedTable } from '../migration/table-drift.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { onEachShard, SHARDS_AT_ONCE } from '../sharding/each-shard.js';
import { checkFailovers } from './failover-check.js';
import { type CheckResult, type Finding, fault, ok, warning } from './finding.js';
import { checkLeftOutShards } from './left-out-shards.js';
import { checkProcesses } from './process-check.js';
import { checkReplica } from './replica-check.js';
import { checkBudget } from './server-budget.js';
import {
  checkClock,
  checkConnection,
  checkDefaultShard,
  checkDurability,
  checkPeers,
  checkResidency,
  checkRights,
  checkVersion,
  type ShardCheck,
  type ShardSubject,
} from './shard-checks.js';

export interface ExaminedTable extends ExpectedTable {
  readonly sharded: boolean;
}

export interface ExamineOptions {
  readonly topology: ShardingTopology;
  /** The application's migrations and tables; undefined if unknown. */
  readonly application:
    | { readonly migrations: readonly Migration[]; readonly tables: readonly ExaminedTable[] }
    | undefined;
  /** Maximum shards at a time. Default 8. */
  readonly atOnce?: number;
}

/** Checks of a database that answers. */
const CHECKS: Readonly<Record<string, ShardCheck>> = {
  version: checkVersion,
  durability: checkDurability,
  clock: checkClock,
  rights: checkRights,
  residency: checkResidency,
  'default shard': checkDefaultShard,
  connected: checkPeers,
};

/** Checks a topology and its databases. Changes nothing. */
export async function examine(
  databases: DatabaseRegistry,
  options: ExamineOptions,
): Promise<readonly Finding[]> {
  const { application, topology, atOnce = SHARDS_AT_ONCE } = options;
  const tables = application?.tables ?? [];
  const outcomes = await onEachShard(databases.shards(), atOnce, async (shard) => [
    ...(await examineShard({
      database: databases.database(shard),
      member: databases.memberConfig(shard),
      tables,
      defaultShard: topology.defaultShard,
    })),
    ...(await checkReplica(databases, shard)),
    ...(await checkFailovers(databases, shard)),
  ]);
  const findings = outcomes.flatMap((outcome): readonly Finding[] => {
    const subject = outcome.shard.toString();
    if (outcome.ok) return outcome.value.map((result) => ({ subject, ...result }));
    return [{ subject, ...fault('checks', messageOf(outcome.error), 'Check the log of the server.') }];
  });
  return [
    ...findings,
    ...(await checkBudget(topology, databases)),
    ...(await checkLeftOutShards(topology, databases)),
    ...(await checkProcesses(topology, databases, atOnce)),
    ...(await examineSchemas(databases, options)),
  ];
}

async function examineShard(subject: ShardSubject): Promise<readonly CheckResult[]> {
  const connection = await checkConnection(subject);
  if (connection.some(({ level }) => level === 'fault')) return connection;
  const results = [...connection];
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      results.push(...(await check(subject)));
    } catch (error) {
      results.push(
        fault(name, `not checked: ${messageOf(error)}`, 'Check the rights, and the log of the server.'),
      );
    }
  }
  return results;
}

async function examineSchemas(
  databases: DatabaseRegistry,
  { application, atOnce = SHARDS_AT_ONCE }: ExamineOptions,
): Promise<readonly Finding[]> {
  if (application === undefined) return [];
  const { migrations, tables } = application;
  const status = await migrationStatus(databases, { migrations, atOnce });
  const drifts = await findDrift(databases, { tables, atOnce });
  const states = new Map(status.map(({ shard, state }) => [shard.bits, state]));
  return [
    ...status.flatMap(migrationFinding),
    ...drifts.flatMap((drift) => driftFindings(drift, states.get(drift.shard.bits))),
  ];
}

function migrationFinding(status: ShardMigrationStatus): readonly Finding[] {
  const { state, pending, applied } = status;
  const subject = status.shard.toString();
  const problems = status.problems.join('; ');
  switch (state) {
    case 'current':
      return [{ subject, ...ok('migrations', `${applied} applied`) }];
    case 'pending':
      return [{ subject, ...fault('migrations', `${pending.length} pending`, 'Run fw-gen migrate up.') }];
    case 'changed':
      return [{ subject, ...fault('migrations', problems, 'Restore the migrations as they were applied.') }];
    case 'unordered':
      return [{ subject, ...fault('migrations', problems, 'See docs/migrations.md, "Branches".') }];
    case 'foreign':
    case 'unreachable':
      // Other checks report the failure.
      return [];
  }
}

function driftFindings(
  { shard, comparedWith, lacks, has, tables, failure }: ShardDrift,
  state: ShardMigrationStatus['state'] | undefined,
): readonly Finding[] {
  const subject = shard.toString();
  if (failure !== undefined) {
    // Other checks report the failure.
    if (state === 'foreign' || state === 'unreachable') return [];
    return [{ subject, ...warning('drift', `not checked: ${failure}`, 'Run the check again.') }];
  }
  const advice =
    state === 'pending'
      ? 'Run fw-gen migrate up first.'
      : 'Write a migration: fw-gen migrate diff. If that finds nothing, undo what was changed by hand on this shard.';
  const misfits = tables.map((message): Finding => ({ subject, ...fault('drift', message, advice) }));
  if (lacks.length + has.length === 0) return misfits;
  const found = `differs from ${comparedWith}: ${lacks.length} objects missing, ${has.length} extra`;
  return [...misfits, { subject, ...warning('drift', found, 'Run fw-gen migrate verify for the list.') }];
}
