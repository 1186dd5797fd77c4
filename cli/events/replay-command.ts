import { type CommandContext, InputError, wholeNumber } from '../command-context.js';
import { Argument, type Command, InvalidArgumentError } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { counted } from '../terminal-text.js';
import { textTable } from '../text-table.js';
import {
  type EventsOptions,
  type EventsSession,
  eventsAction,
  failuresJson,
  onDatabases,
  reportFailures,
  withFrame,
} from './events-frame.js';

interface ReplayFlags extends EventsOptions {
  readonly from?: Date;
  readonly position?: number;
  readonly model?: { readonly name: string; readonly id: string };
  readonly again?: boolean;
}

/** Adds `fw-gen events replay` and `fw-gen events rebase`. */
export function addReplayCommands(events: Command, context: CommandContext): void {
  withFrame(events.command('replay'))
    .description('Replays past events to a handler, independently of its live delivery.')
    .addArgument(new Argument('<handler>', 'its name'))
    .option('--from <time>', 'events from this time on: 2026-01-31, 2026-01-31T12:00:00Z', instant)
    .option(
      '--position <n>',
      'events from this value of the outbox column `position` on; needs --shard',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .option('--model <model/id>', 'all events of one model: Wallet/0190f5c2-...', modelAndId)
    .option(
      '--again',
      'also repeat the actions that the handler starts. Default: they return their first results. ' +
        'A transactional handler requires it: each of its writes is applied a second time',
    )
    .addHelpText(
      'after',
      examples(
        ['fw-gen events replay Balances --from 2026-01-31', 'since that day, UTC'],
        ['fw-gen events replay Balances --position 4711 --shard 1,0', 'from a position in the log'],
      ),
    )
    .action((handler: string, options: ReplayFlags) =>
      context.run(() =>
        onDatabases(options, context.output, (session) => replay(session, handler, options, context.output)),
      ),
    );
  withFrame(events.command('rebase'))
    .description(
      'Resumes delivery after shards were restored on, or moved to, another server. Stop all writes to the old server first.',
    )
    .addHelpText('after', examples(['fw-gen events rebase --shard mexico-1', 'after its move']))
    .action(
      eventsAction<EventsOptions>(context, (session, options) => rebase(session, options, context.output)),
    );
}

async function replay(
  { operations, chosen }: EventsSession,
  handler: string,
  { from, position, model, again, format }: ReplayFlags,
  output: Output,
): Promise<ExitCode> {
  const { idNamed } = await import('../../runtime/operations.js');
  const starts = [
    ...(from === undefined ? [] : [{ time: from }]),
    ...(position === undefined ? [] : [{ position }]),
    ...(model === undefined ? [] : [{ model: idNamed(model.name, model.id) }]),
  ];
  const [start] = starts;
  if (start === undefined || starts.length > 1) {
    throw new InputError('Pass a start: one of --from, --position and --model.');
  }
  const options = { again: again === true, ...(chosen === undefined ? {} : { shard: chosen }) };
  const ordered = await expectFailures(() => operations.replay(handler, start, options));
  if (format === 'json') {
    const replays = ordered.map(({ shard, name }) => ({ shard: shard.toString(), name }));
    output.info(JSON.stringify({ replays }, null, 2));
  } else if (ordered.length === 0) output.info(`${handler} has not handled any event yet.`);
  else {
    output.info(
      textTable(
        ['SHARD', 'REPLAY'],
        ordered.map(({ shard, name }) => [shard.toString(), name]),
      ),
    );
    output.info('A process that runs the handler performs them. Check progress with fw-gen events lag.');
  }
  return EXIT.success;
}

const OUTCOMES = {
  unchanged: 'is on the server that wrote its log: nothing to do',
  adopted: 'is on another server that continues its transaction ids: adopted',
  opened: 'starts a new epoch; the rest of the old log is delivered first',
} as const;

async function rebase(
  { operations, onEach }: EventsSession,
  { format }: EventsOptions,
  output: Output,
): Promise<ExitCode> {
  const outcomes = await onEach(async (shard) => operations.rebase(shard));
  const found = outcomes.done.flatMap(({ name, value }) => value.map((each) => ({ name, ...each })));
  if (format === 'json') {
    const shards = found.map((each) => ({ ...each, shard: each.shard.toString() }));
    output.info(JSON.stringify({ shards, ...failuresJson(outcomes) }, null, 2));
  } else {
    for (const { shard, name, outcome, epoch, renumbered } of found) {
      const more =
        renumbered === 0
          ? ''
          : `; ${counted(renumbered, 'event')} got new positions, so that handlers read them`;
      output.info(`${shard} ${name} ${OUTCOMES[outcome]} (epoch ${epoch})${more}`);
    }
  }
  return reportFailures(outcomes, output);
}

function instant(text: string): Date {
  const date = new Date(text);
  if (/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2}))?$/.test(text) && !Number.isNaN(date.getTime()))
    return date;
  throw new InvalidArgumentError('Expected a date, or a time with its zone: 2026-01-31T12:00:00Z.');
}

function modelAndId(text: string): { readonly name: string; readonly id: string } {
  const [, name, id] = /^([^/\s]+)\/([^/\s]+)$/.exec(text) ?? [];
  if (name === undefined || id === undefined) throw new InvalidArgumentError('Write Model/id.');
  return { name, id };
}
