import type { CommandContext } from '../command-context.js';
import type { Command } from '../commander.js';
import { addDeadLettersCommand } from './dead-letters-command.js';
import { addFailoversCommand } from './failovers-command.js';
import { addLagCommand } from './lag-command.js';
import { addReplayCommands } from './replay-command.js';
import { addResumeCommand } from './resume-command.js';
import { addRetainCommand } from './retain-command.js';
import { addSchedulesCommand } from './schedules-command.js';

/** Adds `fw-gen events` with its commands. */
export function addEventsCommand(program: Command, context: CommandContext): void {
  const events = program
    .command('events')
    .description(
      'Shows and steers the delivery of events: lag, dead letters, replays, retention, scheduled actions.',
    );
  addLagCommand(events, context);
  addFailoversCommand(events, context);
  addDeadLettersCommand(events, context);
  addReplayCommands(events, context);
  addResumeCommand(events, context);
  addRetainCommand(events, context);
  addSchedulesCommand(events, context);
}
