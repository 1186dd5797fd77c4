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

/** Adds `fw-gen events resume`. */
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
        resume(name, session, { ...options, output: context.output }),
      )(options),
    );
}

async function resume(
  name: string,
  { operations, onEach }: EventsSession,
  { format, output }: Pick<EventsOptions, 'format'> & { readonly output: Output },
): Promise<ExitCode> {
  const outcomes = await onEach((shard) => operations.resume(name, shard));
  const shards = outcomes.done.map(({ shard, name: place, value }) => ({
    shard: shard.toString(),
    name: place,
    resumed: value > 0,
  }));
  if (format === 'json') output.info(JSON.stringify({ shards, ...failuresJson(outcomes) }, null, 2));
  else {
    for (const { shard, name: place, resumed } of shards)
      output.info(`${shard} ${place}: ${resumed ? 'resumed' : 'was not stopped'}`);
  }
  const failed = reportFailures(outcomes, output);
  const any = outcomes.done.some(({ value }) => value > 0);
  return failed === EXIT.success && !any ? EXIT.drift : failed;
}
