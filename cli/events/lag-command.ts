import type { ConsumerLag, Failover, HorizonHolder, ShardLag } from '../../runtime/operations.js';
import type { CommandContext } from '../command-context.js';
import type { Command } from '../commander.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { cell, counted, durationText, oneLine } from '../terminal-text.js';
import { textTable } from '../text-table.js';
import {
  type EventsOptions,
  type EventsSession,
  eventsAction,
  failuresJson,
  reportFailures,
  type ShardOutcomes,
  withFrame,
} from './events-frame.js';

/** Adds `fw-gen events lag`. */
export function addLagCommand(events: Command, context: CommandContext): void {
  withFrame(events.command('lag'))
    .description(
      'Shows the position of each handler on each shard, and what blocks delivery. Exits with 1 if an operator should act.',
    )
    .addHelpText(
      'after',
      examples(
        ['fw-gen events lag', 'all handlers on all shards'],
        ['fw-gen events lag --shard mexico-1', 'of one shard'],
        ['fw-gen events lag --format json', 'for scripts and monitoring'],
      ),
    )
    .action(
      eventsAction<EventsOptions>(context, (session, options) => showLag(session, options, context.output)),
    );
}

async function showLag(
  { operations, onEach }: EventsSession,
  { format }: EventsOptions,
  output: Output,
): Promise<ExitCode> {
  const outcomes = await onEach(async (shard) => (await operations.lag(shard))[0]);
  const shards = outcomes.done.flatMap(({ name, value }) =>
    value === undefined ? [] : [{ name, lag: value }],
  );
  if (format === 'json') output.info(lagJson(shards, outcomes));
  else if (outcomes.done.length > 0) showText(shards, output);
  const failed = reportFailures(outcomes, output);
  return failed === EXIT.success && shards.every(({ lag }) => isQuiet(lag)) ? EXIT.success : EXIT.drift;
}

interface NamedLag {
  readonly name: string;
  readonly lag: ShardLag;
}

/** True if no event is parked, no action has failed, and nothing waits for another release or an operator. */
function isQuiet({ consumers, failedActions, actionsWaitFor, failovers }: ShardLag): boolean {
  return (
    failedActions === 0 &&
    actionsWaitFor === undefined &&
    failovers.every(({ ahead }) => ahead.length === 0) &&
    consumers.every(({ deadLetters, waitingFor }) => deadLetters === 0 && waitingFor === undefined)
  );
}

function lagJson(shards: readonly NamedLag[], outcomes: ShardOutcomes<unknown>): string {
  const list = shards.map(({ name, lag }) => ({ ...lag, shard: lag.shard.toString(), name }));
  return JSON.stringify({ shards: list, ...failuresJson(outcomes) }, null, 2);
}

function showText(shards: readonly NamedLag[], output: Output): void {
  const rows = shards.flatMap(({ name, lag }) =>
    lag.consumers.map((consumer) => consumerRow(name, lag, consumer)),
  );
  const headings = ['SHARD', 'NAME', 'HANDLER', 'BEHIND', 'OLDEST', 'PARKED', 'STATE'];
  output.info(rows.length === 0 ? 'No handler has run yet.' : textTable(headings, rows));
  for (const { lag } of shards) {
    for (const line of [
      ...actionLines(lag),
      ...lag.failovers.flatMap(failoverLines),
      ...lag.horizon.holders.map(holderLine),
    ]) {
      output.info(`${lag.shard} ${line}`);
    }
  }
}

function consumerRow(name: string, { shard }: ShardLag, consumer: ConsumerLag): readonly string[] {
  const { behind, behindMs, deadLetters, parkedModels } = consumer;
  return [
    shard.toString(),
    name,
    consumer.kind === 'replay' ? `${consumer.name} (replay)` : consumer.name,
    behind >= 10_000 ? '10000+' : String(behind),
    behind === 0 ? '' : durationText(behindMs),
    deadLetters === 0 ? '' : `${counted(deadLetters, 'event')} of ${counted(parkedModels, 'model')}`,
    stateOf(consumer),
  ];
}

function stateOf({ waitingFor, holder }: ConsumerLag): string {
  if (waitingFor !== undefined) return `waits: ${cell(waitingFor)}`;
  return holder === undefined ? 'no process' : `runs in ${holder.slice(0, 8)}`;
}

function actionLines({ dueActions, failedActions, actionsWaitFor }: ShardLag): readonly string[] {
  return [
    ...(dueActions === 0 ? [] : [`${counted(dueActions, 'scheduled action')} due`]),
    ...(actionsWaitFor === undefined ? [] : [`scheduled actions wait: ${cell(actionsWaitFor)}`]),
    ...(failedActions === 0 ? [] : [`${counted(failedActions, 'scheduled action')} failed permanently`]),
  ];
}

function failoverLines({ inWords, noticedDate, ahead }: Failover): readonly string[] {
  const summary = `${inWords}, noticed at ${noticedDate.toISOString()}; see fw-gen events failovers`;
  return [summary, ...ahead.map((each) => oneLine(each.inWords))];
}

function holderLine(holder: HorizonHolder): string {
  const who = [
    holder.pid === undefined ? undefined : `process ${holder.pid}`,
    holder.preparedName === undefined ? undefined : `the prepared transaction ${cell(holder.preparedName)}`,
    holder.user === undefined ? undefined : `role ${cell(holder.user)}`,
    holder.application === undefined ? undefined : `application ${cell(holder.application)}`,
    holder.database === undefined ? undefined : `database ${cell(holder.database)}`,
    holder.state,
  ].filter((part) => part !== undefined);
  const age = holder.ageMs === undefined ? '' : ` for ${durationText(holder.ageMs)}`;
  return `delivery is blocked${age} by ${who.join(', ')}`;
}
