import { defined } from '../../generator/schema/defined.js';
import { type CommandEntry, instant, required, value, wholeNumber } from '../command.js';
import { cell } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { FRAME, operatorCommand } from './operator-command.js';

const EXAMPLE_ID = '0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4';

/** `fw-gen history` */
export const HISTORY: CommandEntry = operatorCommand({
  name: 'history',
  about:
    'Shows the life of a model: its events with the version that each made, what has changed, the action and its principal. Versions without an event are not listed. Payloads may contain personal data.',
  examples: [
    [`fw-gen history ${EXAMPLE_ID}`, 'its last 100 events'],
    [`fw-gen history ${EXAMPLE_ID} --at 2027-01-01T12:00:00Z`, 'what had happened by then'],
  ],
  inputs: {
    ...FRAME,
    id: required('<id>', 'the id of the model'),
    at: value('--at <time>', 'only what had happened by then, ISO 8601; default: until now', instant),
    limit: value('--limit <n>', 'maximum number of events, the last ones', wholeNumber(1, 10_000), 100),
  },
  run: async ({ runtime, operations, shard }, { id, at, limit }) => {
    const events = await operations.history(runtime.parseUuid(id), defined({ shard, at, limit }));
    const lines = tableLines(events, {
      // The runs of a saga have the id of its model.
      MODEL: ({ modelName }) => cell(modelName),
      VERSION: ({ modelVersion }) => modelVersion,
      DATE: ({ date }) => date,
      EVENT: ({ eventType }) => cell(eventType),
      CHANGE: ({ payload }) => cell(JSON.stringify(payload)),
      ACTION: ({ actionName, actionId }) => cell(actionName ?? actionId),
      PRINCIPAL: ({ principal }) => cell(principal),
    });
    const none = [`There are no events of ${id}${at === undefined ? '' : ` by ${at.toISOString()}`}.`];
    return { json: { events }, lines: events.length === 0 ? none : lines };
  },
});
