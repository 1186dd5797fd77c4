import { uuidTimeMs } from '../domain/uuid.js';
import { fault, warning } from './finding.js';
import { ask, query, type ShardCheck } from './shard-checks.js';

const CHECKS = `
select conrelid::regclass::text, pg_get_constraintdef(oid), exists (
  select from eventlog.maintenance where task = 'retention' and leased_until > clock_timestamp()),
  (extract(epoch from clock_timestamp()) * 1000)::float8
from pg_constraint where conname = 'fw_partitions_ahead' and conrelid in (
  to_regclass('eventlog.events_default'), to_regclass('eventlog.actions_default')) order by 1`;

/**
 * Checks for a left-over constraint of a process that was creating partitions, which refuses rows from a certain day
 * on. The next run of retention, or the next start of a process, drops a constraint that refuses rows or is about to.
 */
export const checkPartitions: ShardCheck = async ({ database }) => {
  const [readable] = await ask(
    database,
    "select has_table_privilege(to_regclass('eventlog.maintenance'), 'SELECT')",
  );
  if (readable === false) {
    const found = 'not checked: the user may not read eventlog.maintenance';
    return [warning('partitions', found, 'Run fw-gen doctor as the owner of the tables.')];
  }
  if (readable !== true) return [];
  const { rows } = await query(database, CHECKS);
  return rows.flatMap(([table, definition, isBusy, nowMs]) => {
    const [, from] = /id < '([0-9a-f-]{36})'/.exec(String(definition)) ?? [];
    if (from === undefined || isBusy === true) return [];
    const fromMs = uuidTimeMs(from);
    const name = String(table);
    const found = `the constraint fw_partitions_ahead of ${name} refuses rows from ${new Date(fromMs).toISOString()} on`;
    const advice =
      `A process was killed while it made partitions. Run fw-gen events retain, or as the owner: ` +
      `alter table ${name} drop constraint fw_partitions_ahead.`;
    return [(fromMs <= Number(nowMs) ? fault : warning)('partitions', found, advice)];
  });
};
