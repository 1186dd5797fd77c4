import type { JournalEntry, OperatorsJournal } from '../../runtime/operations.js';
import { type CommandContext, wholeNumber } from '../command-context.js';
import { Argument, type Command } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import {
  type EventsOptions,
  type EventsSession,
  eventsAction,
  failuresJson,
  onDatabases,
  reportFailures,
  showFound,
  withFrame,
} from '../events/events-frame.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { cell, printable } from '../terminal-text.js';
import { textTable } from '../text-table.js';
import { untilSettled } from '../until-settled.js';

interface ListOptions extends EventsOptions {
  readonly limit: number;
}

interface FinishOptions extends EventsOptions {
  readonly wait: number;
}

interface FlagOptions extends EventsOptions {
  readonly note: string;
}

const EXAMPLE_ID = '0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4';

/** Adds `fw-gen journal` with its commands. */
export function addJournalCommand(program: Command, context: CommandContext): void {
  const journal = program
    .command('journal')
    .description('Shows partially applied cross-shard plans, and finishes or flags them.');
  addList(journal, context);
  addShow(journal, context);
  addFinish(journal, context);
  addFlag(journal, context);
}

function addList(journal: Command, context: CommandContext): void {
  withFrame(journal.command('list'))
    .description('Lists open entries, oldest first on each shard. Exits with 1 if one is partially applied.')
    .option('--limit <n>', 'maximum number per shard', wholeNumber(1, 10_000), 100)
    .addHelpText(
      'after',
      examples(
        ['fw-gen journal list', 'partially applied plans'],
        ['fw-gen journal list --format json', 'for scripts and monitoring'],
      ),
    )
    .action(eventsAction<ListOptions>(context, (session, options) => list(session, options, context.output)));
}

async function list(
  { journal, onEach }: EventsSession,
  { limit, format }: ListOptions,
  output: Output,
): Promise<ExitCode> {
  const outcomes = await onEach((shard) => journal.open(shard, limit));
  const found = outcomes.done.flatMap(({ value }) => value);
  if (format === 'json') output.info(JSON.stringify({ entries: found, ...failuresJson(outcomes) }, null, 2));
  else
    showFound(found, outcomes, output, {
      table: () => table(found),
      none: 'No cross-shard plan is partially applied.',
    });
  const code = reportFailures(outcomes, output);
  // A running execution has leased its entry.
  return found.some(({ leasedUntil }) => leasedUntil === undefined) ? EXIT.drift : code;
}

function table(entries: readonly JournalEntry[]): string {
  const rows = entries.map((entry) => [
    entry.id,
    entry.state,
    cell(entry.actionName),
    entry.startedDate.toISOString(),
    entry.leasedUntil?.toISOString() ?? '',
    String(entry.attempts),
    entry.parts.map(({ shard, status }) => `${shard} ${status}`).join(', '),
    cell(entry.note ?? entry.lastError),
  ]);
  return textTable(['ID', 'STATE', 'ACTION', 'STARTED', 'LEASED UNTIL', 'ATTEMPTS', 'SHARDS', 'NOTE'], rows);
}

function withId(command: Command): Command {
  return withFrame(command).addArgument(new Argument('<id>', 'its id, as `journal list` shows it'));
}

function addShow(journal: Command, context: CommandContext): void {
  withId(journal.command('show'))
    .description('Shows one entry: the changes of each shard and whether they are applied.')
    .addHelpText('after', examples([`fw-gen journal show ${EXAMPLE_ID}`, '']))
    .action((id: string, options: EventsOptions) =>
      context.run(() =>
        onDatabases(options, context.output, async (session) => {
          const entry = await expectFailures(() => session.journal.show(id));
          context.output.info(options.format === 'json' ? JSON.stringify(entry, null, 2) : describe(entry));
          return EXIT.success;
        }),
      ),
    );
}

function describe(entry: JournalEntry): string {
  const { id, actionName, principal, startedDate, state, note, leasedUntil, attempts, lastError, parts } =
    entry;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['entry', id],
    ['state', state],
    ['action', cell(actionName)],
    ['principal', cell(principal)],
    ['started', startedDate.toISOString()],
    ['leased until', leasedUntil?.toISOString()],
    ['attempts', attempts === 0 ? undefined : String(attempts)],
    ['last error', lastError === undefined ? undefined : printable(lastError)],
    ['note', note === undefined ? undefined : printable(note)],
  ];
  const known = facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(13)}${value}`]));
  const changes = parts.flatMap(({ shard, status, actionId, changes: each }) => [
    `${shard} ${status}, action ${actionId}`,
    ...each.map((change) => `  ${cell(change)}`),
  ]);
  return [...known, ...changes].join('\n');
}

function addFinish(journal: Command, context: CommandContext): void {
  const { output } = context;
  withId(journal.command('finish'))
    .description(
      'Requests a server process to apply the missing changes now, and waits for it. Removes a flag.',
    )
    .option('--wait <seconds>', 'maximum wait, 0 to 600', wholeNumber(0, 600), 20)
    .addHelpText('after', examples([`fw-gen journal finish ${EXAMPLE_ID}`, 'after its cause is fixed']))
    .action((id: string, options: FinishOptions) =>
      context.run(() =>
        onDatabases(options, output, async (session) => {
          const entry = await expectFailures(() => finish(session.journal, id, options.wait));
          const isClosed = entry.state === 'closed';
          if (options.format === 'json') output.info(JSON.stringify(entry, null, 2));
          else
            (isClosed ? output.info : output.error)(
              `${id} ${isClosed ? 'is finished' : why(entry, options)}.`,
            );
          return isClosed ? EXIT.success : EXIT.drift;
        }),
      ),
    );
}

/** The entry after the next attempt, or at the end of the wait. */
async function finish(journal: OperatorsJournal, id: string, waitSeconds: number): Promise<JournalEntry> {
  const { attempts } = await journal.show(id);
  await journal.requestFinish(id);
  const settled = await untilSettled(waitSeconds, async () => {
    const entry = await journal.show(id);
    return entry.state === 'closed' || entry.attempts > attempts ? entry : undefined;
  });
  return settled ?? journal.show(id);
}

function why({ attempts, lastError }: JournalEntry, { wait }: FinishOptions): string {
  if (attempts > 0 && lastError !== undefined) return `is not finished: ${printable(lastError)}`;
  return `was not finished within ${wait} s. A server process with event delivery finishes it when one runs`;
}

function addFlag(journal: Command, context: CommandContext): void {
  withId(journal.command('flag'))
    .description('Flags an entry with a note instead of finishing it. It stays in the list.')
    .requiredOption('--note <text>', 'the reason, 1 to 2,000 characters')
    .addHelpText('after', examples([`fw-gen journal flag ${EXAMPLE_ID} --note 'refunded by hand'`, '']))
    .action((id: string, options: FlagOptions) =>
      context.run(() =>
        onDatabases(options, context.output, async ({ journal: entries }) => {
          await expectFailures(() => entries.flag(id, options.note));
          if (options.format === 'json') context.output.info(JSON.stringify({ id, flagged: true }, null, 2));
          else context.output.info(`${id} is flagged.`);
          return EXIT.success;
        }),
      ),
    );
}
