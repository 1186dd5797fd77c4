import type {
  MigrationStep,
  ShardDrift,
  ShardIdentifier,
  ShardMigrationStatus,
} from '../../runtime/operations.js';
import { CONFIG, type CommandEntry, FORMAT, flag, PARALLEL, type Report } from '../command.js';
import { DIFF } from '../diff-command.js';
import type { Output } from '../exit.js';
import { readMigrations, readTables } from '../project.js';
import { RENAME } from '../rename-command.js';
import { tableLines } from '../text-table.js';
import { operatorCommand, type Session } from './operator-command.js';

const INPUTS = { ...CONFIG, ...FORMAT, ...PARALLEL };

const UP = operatorCommand({
  name: 'up',
  about:
    'Applies the pending migrations on every shard. Run it again after a failure: it continues where it stopped.',
  reportsIdentity: true,
  inputs: { ...INPUTS, dryRun: flag('--dry-run', 'only show the SQL of the pending migrations') },
  run: async (session, options, { output }) =>
    options.dryRun === true ? plan(session, options.parallel) : applyAll(session, options.parallel, output),
});

const STATUS = operatorCommand({
  name: 'status',
  about: 'Shows the state of every shard.',
  reportsIdentity: true,
  inputs: INPUTS,
  run: async (session, { parallel }) => statusReport(await statusOf(session, parallel)),
});

const VERIFY = operatorCommand({
  name: 'verify',
  about: 'Checks for pending migrations, and for drift between shards and between models and tables.',
  reportsIdentity: true,
  inputs: INPUTS,
  run: async (session, { parallel: atOnce }) => {
    const tables = await readTables(session.config);
    const status = await statusOf(session, atOnce);
    const drift = await session.runtime.findDrift(session.databases, { tables, atOnce });
    const lines = [`\n${drift.length === 0 ? 'No drift.' : drift.flatMap(driftLines).join('\n')}`];
    const { json, isDrift, ...report } = statusReport(status, lines);
    return { ...report, json: { ...json, drift }, isDrift: isDrift === true || drift.length > 0 };
  },
});

/** `fw-gen migrate` */
export const MIGRATE: CommandEntry = {
  name: 'migrate',
  about: 'Migrates all shards, or shows their state.',
  commands: [UP, STATUS, VERIFY, DIFF, RENAME],
};

async function statusOf(
  { runtime, config, databases }: Session,
  atOnce: number,
): Promise<readonly ShardMigrationStatus[]> {
  const migrations = await readMigrations(config);
  return runtime.migrationStatus(databases, { migrations, atOnce });
}

async function plan(session: Session, atOnce: number): Promise<Report> {
  const status = await statusOf(session, atOnce);
  const pending = new Map(
    status.flatMap((each) => each.pending).map((each) => [`${each.set}/${each.name}`, each]),
  );
  const migrations = [...pending.values()].map(({ set, name, up }) => {
    const shards = status.filter((each) =>
      each.pending.some((other) => other.set === set && other.name === name),
    );
    return `\n-- ${name} (${set}), on ${shards.length} of ${status.length} shards\n${up.trim()}`;
  });
  return { ...statusReport(status, migrations), json: { shards: status } };
}

async function applyAll(
  { runtime, config, databases }: Session,
  atOnce: number,
  output: Output,
): Promise<Report> {
  const migrations = await readMigrations(config);
  // A line on standard error for each finished shard, so that standard output contains only the result.
  const appliedOn = new Map<ShardIdentifier, readonly string[]>();
  const progress = ({ shard, applied, error, elapsedMs }: MigrationStep): void => {
    appliedOn.set(shard, applied);
    const failure = error === undefined ? '' : `, then failed: ${runtime.messageOf(error)}`;
    const place = `[${appliedOn.size}/${databases.shards().length}] ${shard}`;
    output.error(`${place} ${applied.length} applied${failure}, ${elapsedMs} ms`);
  };
  const outcomes = await runtime.migrateShards(databases, { migrations, atOnce, progress });
  const shards = outcomes.map((outcome) => ({
    shard: outcome.shard.toString(),
    name: databases.memberConfig(outcome.shard).name,
    applied: appliedOn.get(outcome.shard) ?? [],
    error: outcome.ok ? undefined : runtime.messageOf(outcome.error),
  }));
  const table = tableLines(shards, {
    SHARD: ({ shard }) => shard,
    NAME: ({ name }) => name,
    APPLIED: ({ applied }) => applied.length,
    RESULT: ({ error }) => error ?? 'done',
  });
  return { json: { shards }, lines: table, isDrift: !outcomes.every(({ ok }) => ok) };
}

function driftLines({ shard, comparedWith, lacks, has, tables, failure }: ShardDrift): readonly string[] {
  return [
    ...(failure === undefined ? [] : [`${shard} could not be checked: ${failure}`]),
    ...lacks.map((line) => `${shard} differs from ${comparedWith}: it lacks ${line}`),
    ...has.map((line) => `${shard} differs from ${comparedWith}: it has ${line}`),
    ...tables.map((message) => `${shard} does not match the models: ${message}`),
  ];
}

/** The state of each shard, and further lines. */
function statusReport(status: readonly ShardMigrationStatus[], further: readonly string[] = []): Report {
  const table = tableLines(status, {
    SHARD: ({ shard }) => shard,
    NAME: ({ name }) => name,
    STATE: ({ state }) => state,
    APPLIED: ({ applied }) => applied,
    PENDING: ({ pending }) => pending.length,
    DETAIL: ({ pending: [next], newer, problems }) =>
      [
        ...problems,
        ...(next === undefined ? [] : [`next ${next.name}`]),
        ...(newer.length === 0 ? [] : [`ahead by ${newer.length}`]),
      ].join('; '),
  });
  return {
    json: {
      shards: status.map(({ pending, ...rest }) => ({ ...rest, pending: pending.map(({ name }) => name) })),
    },
    lines: [...table, ...further],
    isDrift: status.some(({ state }) => state !== 'current'),
  };
}
