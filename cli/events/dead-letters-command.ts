import type { DeadLetter, DeadLetterDetails, DeadLetterState } from '../../runtime/operations.js';
import { type CommandContext, choice, InputError, wholeNumber } from '../command-context.js';
import { Argument, type Command } from '../commander.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { cell, counted, printable } from '../terminal-text.js';
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

interface FilterOptions extends EventsOptions {
  readonly handler?: string;
  readonly model?: string;
  readonly event?: string;
}

interface ListOptions extends FilterOptions {
  readonly state?: DeadLetterState;
  readonly limit: number;
}

interface ChangeOptions extends FilterOptions {
  readonly all?: boolean;
  readonly note?: string;
}

const STATES = ['failed', 'waiting', 'discarded'] as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Adds `fw-gen events dead-letters`. */
export function addDeadLettersCommand(events: Command, context: CommandContext): void {
  const letters = events
    .command('dead-letters')
    .description('Shows, retries or discards the events that handlers could not process.');
  addList(letters, context);
  addShow(letters, context);
  withFilter(withFrame(letters.command('retry')))
    .description('Resumes models in order. A model stays parked if its first event fails again.')
    .option('--all', 'all parked models')
    .addHelpText(
      'after',
      examples(
        ['fw-gen events dead-letters retry --handler WelcomeHandler', 'after fixing the handler'],
        ['fw-gen events dead-letters retry --all', 'everything'],
      ),
    )
    .action(
      eventsAction<ChangeOptions>(context, (session, options) => retry(session, options, context.output)),
    );
  withFilter(withFrame(letters.command('discard')))
    .description(
      'Discards events permanently. They stay listed as discarded; the events that waited behind them are resumed.',
    )
    .option('--all', 'every parked event of the handler')
    .option('--note <text>', 'the reason, stored with the events')
    .addHelpText(
      'after',
      examples([
        "fw-gen events dead-letters discard --handler WelcomeHandler --event <id> --note 'no such address'",
        '',
      ]),
    )
    .action(
      eventsAction<ChangeOptions>(context, (session, options) => discard(session, options, context.output)),
    );
}

function withFilter(command: Command): Command {
  return command
    .option('--handler <name>', 'of this handler')
    .option('--model <id>', 'of this model')
    .option('--event <id>', 'this event');
}

function addList(letters: Command, context: CommandContext): void {
  withFilter(withFrame(letters.command('list')))
    .description('Lists failed events and the events that wait behind them, in order.')
    .option('--state <state>', `${STATES.join(', ')}; default: all but discarded ones`, choice(STATES))
    .option('--limit <n>', 'maximum number per shard', wholeNumber(1, 10_000), 100)
    .addHelpText(
      'after',
      examples(
        ['fw-gen events dead-letters list', 'on all shards'],
        ['fw-gen events dead-letters list --handler WelcomeHandler --state failed', ''],
      ),
    )
    .action(
      eventsAction<ListOptions>(context, async ({ operations, onEach }, options) => {
        const { state, limit, format } = options;
        const filter = { ...filterOf(options), limit, ...(state === undefined ? {} : { state }) };
        const outcomes = await onEach((shard) => operations.deadLetters.list({ ...filter, shard }));
        const found = outcomes.done.flatMap(({ value }) => value);
        if (format === 'json') {
          const deadLetters = found.map(letterJson);
          context.output.info(JSON.stringify({ deadLetters, ...failuresJson(outcomes) }, null, 2));
        } else {
          const texts = { table: () => table(found), none: 'No dead letters.' };
          showFound(found, outcomes, context.output, texts);
        }
        return reportFailures(outcomes, context.output);
      }),
    );
}

function addShow(letters: Command, context: CommandContext): void {
  withFrame(letters.command('show'))
    .description('Shows the details of one event: payload, action, error, stack.')
    .addArgument(new Argument('<event>', 'id of the event'))
    .option('--handler <name>', 'of this handler')
    .addHelpText(
      'after',
      examples(['fw-gen events dead-letters show 0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4', '']),
    )
    .action((event: string, options: FilterOptions) =>
      context.run(() =>
        onDatabases(options, context.output, (session) =>
          show(session, { ...options, event }, context.output),
        ),
      ),
    );
}

async function show(
  { operations, onEach }: EventsSession,
  options: FilterOptions & { readonly event: string },
  output: Output,
): Promise<ExitCode> {
  const { eventId = '', ...filter } = filterOf(options);
  const outcomes = await onEach((shard) => operations.deadLetters.show(eventId, { ...filter, shard }));
  const found = outcomes.done.flatMap(({ value }) => value);
  if (options.format === 'json') {
    const deadLetters = found.map((each) => ({ ...each, shard: each.shard.toString() }));
    output.info(JSON.stringify({ deadLetters, ...failuresJson(outcomes) }, null, 2));
  } else for (const each of found) output.info(detailsText(each));
  const reached = reportFailures(outcomes, output);
  if (found.length > 0 || outcomes.failed.length > 0) return reached;
  output.error(`No handler has parked the event ${eventId}.`);
  return EXIT.drift;
}

async function retry(
  { operations, onEach }: EventsSession,
  options: ChangeOptions,
  output: Output,
): Promise<ExitCode> {
  const filter = filterOf(options);
  if (Object.keys(filter).length === 0 && options.all !== true) {
    throw new InputError('Pass what to retry: --handler, --model, --event or --all.');
  }
  const outcomes = await onEach((shard) => operations.deadLetters.retry({ ...filter, shard }));
  const models = outcomes.done.reduce((sum, { value }) => sum + value, 0);
  if (options.format === 'json') output.info(JSON.stringify({ models, ...failuresJson(outcomes) }, null, 2));
  else if (outcomes.done.length > 0)
    output.info(`${counted(models, 'model')} will be resumed. Check the result with fw-gen events lag.`);
  return reportFailures(outcomes, output);
}

async function discard(
  { operations, onEach }: EventsSession,
  options: ChangeOptions,
  output: Output,
): Promise<ExitCode> {
  const { handler, ...filter } = filterOf(options);
  if (handler === undefined) throw new InputError('Pass the handler whose events to discard: --handler.');
  if (Object.keys(filter).length === 0 && options.all !== true) {
    throw new InputError('Pass what to discard: --event, --model or --all.');
  }
  const outcomes = await onEach((shard) =>
    operations.deadLetters.discard({ ...filter, handler, shard }, options.note),
  );
  const events = outcomes.done.reduce((sum, { value }) => sum + value, 0);
  if (options.format === 'json') output.info(JSON.stringify({ events, ...failuresJson(outcomes) }, null, 2));
  else if (outcomes.done.length > 0) output.info(`${counted(events, 'event')} discarded.`);
  return reportFailures(outcomes, output);
}

/** @throws InputError for an invalid event id */
function filterOf({ handler, model, event }: FilterOptions): {
  readonly handler?: string;
  readonly modelId?: string;
  readonly eventId?: string;
} {
  if (event !== undefined && !UUID.test(event)) throw new InputError(`${event} is not the id of an event.`);
  return {
    ...(handler === undefined ? {} : { handler }),
    ...(model === undefined ? {} : { modelId: model }),
    ...(event === undefined ? {} : { eventId: event }),
  };
}

function letterJson(letter: DeadLetter): object {
  return { ...letter, shard: letter.shard.toString() };
}

function table(letters: readonly DeadLetter[]): string {
  const rows = letters.map((each) => [
    each.shard.toString(),
    each.handler,
    each.retrying ? `${each.state}, retrying` : each.state,
    `${each.modelName} ${each.modelId}`,
    each.eventType,
    each.eventId,
    String(each.attempts),
    cell(each.errorMessage),
  ]);
  return textTable(['SHARD', 'HANDLER', 'STATE', 'MODEL', 'EVENT', 'ID', 'ATTEMPTS', 'ERROR'], rows);
}

function detailsText(letter: DeadLetterDetails): string {
  const { event } = letter;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['event', `${letter.eventId}  ${letter.eventType} version ${event.eventVersion}`],
    ['handler', `${letter.handler} on shard ${letter.shard}`],
    ['state', letter.retrying ? `${letter.state}, retrying` : letter.state],
    ['model', `${letter.modelName} ${letter.modelId} version ${event.modelVersion}`],
    ['created', event.createdDate],
    ['parked', letter.parkedDate.toISOString()],
    ['failed', letter.failedDate?.toISOString()],
    ['discarded', letter.discardedDate?.toISOString()],
    ['note', letter.note],
    ['action', event.action === null ? event.actionId : `${event.action.name} ${event.actionId}`],
    ['principal', event.action?.principal],
    ['params', event.action === null ? undefined : JSON.stringify(event.action.params)],
    ['payload', JSON.stringify(event.payload)],
    ['attempts', String(letter.attempts)],
    [
      'error',
      letter.errorCode === undefined ? undefined : `${letter.errorCode} ${letter.errorMessage ?? ''}`,
    ],
    ['stack', letter.errorStack === undefined ? undefined : `\n${letter.errorStack}`],
  ];
  return lines
    .flatMap(([name, text]) =>
      text === undefined ? [] : [`${`${name}:`.padEnd(11)}${printable(text)}`.trimEnd()],
    )
    .join('\n');
}
