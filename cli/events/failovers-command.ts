import type { FailoverReport } from '../../runtime/operations.js';
import type { CommandContext } from '../command-context.js';
import type { Command } from '../commander.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { cell, oneLine } from '../terminal-text.js';
import {
  type EventsOptions,
  type EventsSession,
  eventsAction,
  failuresJson,
  reportFailures,
  withFrame,
} from './events-frame.js';

interface FailoversOptions extends EventsOptions {
  readonly acknowledge?: boolean;
}

/** Adds `fw-gen events failovers`. */
export function addFailoversCommand(events: Command, context: CommandContext): void {
  withFrame(events.command('failovers'))
    .description(
      'Shows failovers to a standby and the events that they may have lost. Exits with 1 if events were lost.',
    )
    .option('--acknowledge', 'mark these as handled and hide them')
    .addHelpText(
      'after',
      examples(
        ['fw-gen events failovers', 'of all shards'],
        ['fw-gen events failovers --shard mexico-1 --acknowledge', 'after the losses are resolved'],
      ),
    )
    .action(
      eventsAction<FailoversOptions>(context, (session, options) =>
        showFailovers(session, options, context.output),
      ),
    );
}

async function showFailovers(
  { operations, onEach }: EventsSession,
  { format, acknowledge = false }: FailoversOptions,
  output: Output,
): Promise<ExitCode> {
  const outcomes = await onEach(async (shard) => {
    const reports = await operations.failovers(shard);
    if (acknowledge) await operations.acknowledgeFailovers(shard);
    return reports;
  });
  const found = outcomes.done.flatMap(({ shard, name, value }) =>
    value.map((report) => ({ shard: shard.toString(), name, report })),
  );
  if (format === 'json') {
    const failovers = found.map(({ shard, name, report }) => ({ ...toJson(report), shard, name }));
    output.info(JSON.stringify({ failovers, ...failuresJson(outcomes) }, null, 2));
  } else {
    for (const { shard, name, report } of found)
      for (const line of linesOf(report)) output.info(`${shard} ${cell(name)}: ${oneLine(line)}`);
    if (found.length === 0 && outcomes.failed.length === 0) output.info('No unacknowledged failovers.');
  }
  const failed = reportFailures(outcomes, output);
  const lost = found.some(({ report }) => report.ahead.length + report.lostCauses.length > 0);
  return failed === EXIT.success && (!lost || acknowledge) ? EXIT.success : EXIT.drift;
}

function toJson(report: FailoverReport): object {
  const lostCauses = report.lostCauses.map((each) => ({ ...each, shard: each.shard.toString() }));
  return { ...report, lostCauses };
}

function linesOf({ inWords, noticedDate, ahead, lostCauses }: FailoverReport): readonly string[] {
  return [
    `${inWords}, noticed at ${noticedDate.toISOString()}`,
    ...[...ahead, ...lostCauses].map((each) => each.inWords),
  ];
}
