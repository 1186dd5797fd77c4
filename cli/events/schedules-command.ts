import type { ScheduledAction, ScheduleState } from '../../runtime/operations.js';
import { type CommandContext, choice, wholeNumber } from '../command-context.js';
import { Argument, type Command } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { cell } from '../terminal-text.js';
import { textTable } from '../text-table.js';
import {
  type EventsOptions,
  type EventsSession,
  eventsAction,
  failuresJson,
  onDatabases,
  reportFailures,
  showFound,
  withFrame,
} from './events-frame.js';

interface ListOptions extends EventsOptions {
  readonly state?: ScheduleState;
  readonly action?: string;
  readonly limit: number;
  readonly params?: boolean;
}

const STATES = ['pending', 'running', 'done', 'failed', 'cancelled'] as const;

/** Adds `fw-gen events schedules`. */
export function addSchedulesCommand(events: Command, context: CommandContext): void {
  const schedules = events.command('schedules').description('Lists, cancels and retries scheduled actions.');
  addList(schedules, context);
  addChange(schedules, context, {
    name: 'cancel',
    description: 'Cancels a scheduled action that has not started.',
    done: 'was cancelled',
    refused: 'was not cancelled: it has run, is running or does not exist',
  });
  addChange(schedules, context, {
    name: 'retry',
    description: 'Retries a failed scheduled action with a new series of attempts.',
    done: 'will be retried',
    refused: 'was not retried: it is not in state failed',
  });
}

function addList(schedules: Command, context: CommandContext): void {
  withFrame(schedules.command('list'))
    .description('Lists scheduled actions, the next due first on each shard.')
    .option('--state <state>', `${STATES.join(', ')}; default: pending, running and failed`, choice(STATES))
    .option('--action <name>', 'of this action')
    .option('--limit <n>', 'maximum number per shard', wholeNumber(1, 10_000), 100)
    .option('--params', 'also show their params, which may contain secrets')
    .addHelpText(
      'after',
      examples(
        ['fw-gen events schedules list', 'pending, running and failed actions'],
        ['fw-gen events schedules list --state failed --format json', ''],
      ),
    )
    .action(eventsAction<ListOptions>(context, (session, options) => list(session, options, context.output)));
}

async function list(
  { operations, onEach }: EventsSession,
  { state, action, limit, params, format }: ListOptions,
  output: Output,
): Promise<ExitCode> {
  const filter = {
    limit,
    ...(state === undefined ? {} : { state }),
    ...(action === undefined ? {} : { action }),
  };
  const outcomes = await onEach((shard) => operations.schedules.list({ ...filter, shard }));
  const found = outcomes.done.flatMap(({ value }) => value);
  if (format === 'json') {
    const list = found.map(({ params: values, ...each }) => ({
      ...each,
      shard: each.shard.toString(),
      ...(params === true ? { params: values } : {}),
    }));
    output.info(JSON.stringify({ schedules: list, ...failuresJson(outcomes) }, null, 2));
  } else {
    const texts = { table: () => table(found, params === true), none: 'No scheduled actions.' };
    showFound(found, outcomes, output, texts);
  }
  return reportFailures(outcomes, output);
}

function table(actions: readonly ScheduledAction[], withParams: boolean): string {
  const rows = actions.map((each) => [
    each.shard.toString(),
    each.id,
    each.state,
    each.actionName,
    each.dueDate.toISOString(),
    String(each.attempts),
    cell(each.errorMessage),
    ...(withParams ? [cell(JSON.stringify(each.params))] : []),
  ]);
  const headings = ['SHARD', 'ID', 'STATE', 'ACTION', 'DUE', 'ATTEMPTS', 'ERROR'];
  return textTable(withParams ? [...headings, 'PARAMS'] : headings, rows);
}

interface Change {
  readonly name: 'cancel' | 'retry';
  readonly description: string;
  readonly done: string;
  readonly refused: string;
}

function addChange(schedules: Command, context: CommandContext, change: Change): void {
  const { name, description, done, refused } = change;
  const { output } = context;
  withFrame(schedules.command(name))
    .description(description)
    .addArgument(new Argument('<id>', 'its id, as `schedules list` shows it'))
    .addHelpText(
      'after',
      examples([`fw-gen events schedules ${name} 0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4`, '']),
    )
    .action((id: string, options: EventsOptions) =>
      context.run(() =>
        onDatabases(options, output, async ({ operations }) => {
          const changed = await expectFailures(() => operations.schedules[name](id));
          if (options.format === 'json') output.info(JSON.stringify({ id, [name]: changed }, null, 2));
          else (changed ? output.info : output.error)(`${id} ${changed ? done : refused}.`);
          return changed ? EXIT.success : EXIT.drift;
        }),
      ),
    );
}
