import type { RetentionReport } from '../../runtime/operations.js';
import { type CommandContext, readConfig, wholeNumber } from '../command-context.js';
import type { Command } from '../commander.js';
import type { ExitCode, Output } from '../exit.js';
import { examples } from '../help.js';
import {
  type EventsOptions,
  type EventsSession,
  eventsAction,
  failuresJson,
  reportFailures,
  type ShardOutcomes,
  withFrame,
} from './events-frame.js';

interface RetainOptions extends EventsOptions {
  readonly keepDays?: number;
  readonly partitionDays?: number;
  readonly ahead?: number;
}

/** Adds `fw-gen events retain`. */
export function addRetainCommand(events: Command, context: CommandContext): void {
  withFrame(events.command('retain'))
    .description(
      'Creates partitions in advance, and deletes old rows that nothing needs. Run it as the owner of the tables. --keep-days defaults to fw.retention.keep-days of the configuration.',
    )
    .option(
      '--keep-days <n>',
      'minimum age of deleted rows; without it nothing is deleted',
      wholeNumber(1, 36_500),
    )
    .option('--partition-days <n>', 'time that a new partition covers (default: 7)', wholeNumber(1, 366))
    .option('--ahead <n>', 'number of partitions created in advance (default: 4)', wholeNumber(1, 366))
    .addHelpText(
      'after',
      examples(
        ['fw-gen events retain', 'with the settings of the configuration: for a daily job'],
        ['fw-gen events retain --keep-days 30 --shard mexico-1', 'one shard'],
      ),
    )
    .action(
      eventsAction<RetainOptions>(context, (session, options) => retain(session, options, context.output)),
    );
}

async function retain(
  { operations, onEach }: EventsSession,
  options: RetainOptions,
  output: Output,
): Promise<ExitCode> {
  const { retention } = readConfig(options.config);
  const keepDays = options.keepDays ?? retention.keepDays;
  const settings = {
    keepDays,
    ...(options.partitionDays === undefined ? {} : { partitionDays: options.partitionDays }),
    ...(options.ahead === undefined ? {} : { ahead: options.ahead }),
  };
  const outcomes = await onEach((shard) => operations.retain({ ...settings, shard }));
  if (options.format === 'json') output.info(reportsJson(outcomes));
  else await showReports(outcomes, keepDays, output);
  return reportFailures(outcomes, output);
}

function reportsJson(outcomes: ShardOutcomes<readonly RetentionReport[]>): string {
  const shards = outcomes.done.flatMap(({ value }) =>
    value.map((report) => ({
      ...report,
      shard: report.shard.toString(),
      unreachable: report.unreachable.map(String),
      completeFrom: report.completeFrom ?? null,
    })),
  );
  return JSON.stringify({ shards, ...failuresJson(outcomes) }, null, 2);
}

async function showReports(
  outcomes: ShardOutcomes<readonly RetentionReport[]>,
  keepDays: number | undefined,
  output: Output,
): Promise<void> {
  const { describeReport } = await import('../../runtime/operations.js');
  for (const { name, value } of outcomes.done) {
    for (const report of value) {
      output.info(`${report.shard} ${name}: ${describeReport(report) ?? 'nothing to do'}`);
      for (const { partition, reason } of report.kept) output.info(`  kept ${partition}: ${reason}`);
      for (const shard of report.unreachable)
        output.info(`  kept the rows that belong to shard ${shard}, which is unreachable`);
    }
  }
  if (keepDays === undefined)
    output.info('Nothing is deleted: neither --keep-days nor fw.retention.keep-days is set.');
}
