import type { ShardIdentifier } from '../../runtime/operations.js';
import type { CommandContext } from '../command-context.js';
import type { Command } from '../commander.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import {
  type EventsOptions,
  type EventsSession,
  eventsAction,
  failuresJson,
  reportFailures,
  withFrame,
} from './events-frame.js';

interface NarrowFlags extends EventsOptions {
  readonly without: string;
}

/** Adds `fw-gen events resume` and `fw-gen events narrow`. */
export function addResumeCommand(events: Command, context: CommandContext): void {
  withFrame(events.command('resume'))
    .argument('<name>', 'as fw-gen events lag shows it: relay:<sink>')
    .description('Restarts a stopped relay sink at its checkpoint.')
    .addHelpText(
      'after',
      examples(
        ['fw-gen events resume relay:orders', 'on all shards'],
        ['fw-gen events resume relay:orders --shard mexico-1', 'on one shard'],
      ),
    )
    .action((name: string, options: EventsOptions) =>
      eventsAction<EventsOptions>(context, (session) =>
        onShards(session, { ...options, output: context.output }, (shard) => ({
          changed: session.operations.resume(name, shard),
          field: 'resumed',
          words: ['resumed', 'was not stopped'],
        })),
      )(options),
    );
  withFrame(events.command('narrow'))
    .argument('<name>', 'the handler, or relay:<sink>')
    .requiredOption(
      '--without <item>',
      'event:<name>, model:<name> or transactional, as fw-gen events lag shows it',
    )
    .description(
      'Removes an item from the stored selection, so that a release whose handler no longer selects it continues. ' +
        'Its events that are not yet handled are skipped. Stop the processes of earlier releases first.',
    )
    .addHelpText(
      'after',
      examples(['fw-gen events narrow Statistics --without event:RemovedEvent', 'on all shards']),
    )
    .action((name: string, options: NarrowFlags) =>
      eventsAction<NarrowFlags>(context, (session) =>
        onShards(session, { ...options, output: context.output }, (shard) => ({
          changed: session.operations.narrow(name, options.without, shard),
          field: 'narrowed',
          words: ['narrowed', `does not select ${options.without}`],
        })),
      )(options),
    );
}

interface Change {
  readonly changed: Promise<number>;
  /** Name in JSON. */
  readonly field: string;
  /** Whether it changed something, in words. */
  readonly words: readonly [yes: string, no: string];
}

/** Changes a consumer on each shard and reports it. Exit code `drift` if nothing was to be changed. */
async function onShards(
  { onEach }: EventsSession,
  { format, output }: Pick<EventsOptions, 'format'> & { readonly output: Output },
  change: (shard: ShardIdentifier) => Change,
): Promise<ExitCode> {
  const outcomes = await onEach(async (shard) => {
    const { changed, ...texts } = change(shard);
    return { ...texts, done: (await changed) > 0 };
  });
  const shards = outcomes.done.map(({ shard, name, value }) => ({ shard: shard.toString(), name, value }));
  if (format === 'json') {
    const found = shards.map(({ shard, name, value }) => ({ shard, name, [value.field]: value.done }));
    output.info(JSON.stringify({ shards: found, ...failuresJson(outcomes) }, null, 2));
  } else {
    for (const { shard, name, value } of shards)
      output.info(`${shard} ${name}: ${value.words[value.done ? 0 : 1]}`);
  }
  const failed = reportFailures(outcomes, output);
  const any = shards.some(({ value }) => value.done);
  return failed === EXIT.success && !any ? EXIT.drift : failed;
}
