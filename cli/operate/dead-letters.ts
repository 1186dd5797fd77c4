import { InvalidArgumentError } from 'commander';
import { defined } from '../../generator/schema/defined.js';
import type { DeadLetter, DeadLetterDetails, DeadLetterFilter } from '../../runtime/operations.js';
import {
  type CommandEntry,
  choice,
  flag,
  required,
  text,
  type Values,
  value,
  wholeNumber,
} from '../command.js';
import { InputError } from '../input-error.js';
import { counted, oneLine, printable } from '../terminal-text.js';
import { factLines, tableLines } from '../text-table.js';
import { cutLine, type Found, flatten, shardCommand } from './operator-command.js';

const STATES = ['failed', 'waiting', 'discarded'] as const;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const FILTER = {
  handler: text('--handler <name>', 'of this handler'),
  modelId: value('--model <id>', 'of this model: its id, or Model/id', modelId),
  eventId: value('--event <id>', 'this event', eventId),
};

const consumerOf = ({ handler }: { readonly handler?: string | undefined }) => handler;

const LIST = shardCommand({
  name: 'list',
  about: 'Lists failed events and the events that wait behind them, in order.',
  examples: [
    ['fw-gen events dead-letters list', 'on all shards'],
    ['fw-gen events dead-letters list --handler WelcomeHandler --state failed', ''],
  ],
  inputs: {
    ...FILTER,
    state: value('--state <state>', `${STATES.join(', ')}; default: all but discarded ones`, choice(STATES)),
    limit: value('--limit <n>', 'maximum number per shard', wholeNumber(1, 10_000), 100),
  },
  consumerOf,
  each: ({ operations }, { state, limit, ...options }, shard) =>
    operations.deadLetters.list({ ...filterOf(options), ...defined({ state }), limit, shard }),
  report: (found, { limit }) => {
    const letters = flatten(found);
    const lines = [...table(letters), ...cutLine(found, limit, '--limit, --handler or --model')];
    return { json: { deadLetters: letters }, lines, none: 'No dead letters.' };
  },
});

const SHOW = shardCommand({
  name: 'show',
  about: 'Shows the details of one event: payload, action, error, stack.',
  examples: [['fw-gen events dead-letters show 0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4', '']],
  inputs: {
    event: { ...required('<event>', 'id of the event'), parse: eventId },
    handler: FILTER.handler,
  },
  consumerOf,
  each: ({ operations }, { event, handler }, shard) =>
    operations.deadLetters.show(event, { ...defined({ handler }), shard }),
  report: (found, { event }) => {
    const letters = flatten(found);
    return {
      json: { deadLetters: letters },
      lines: letters.map(detailsText),
      none: `No handler has parked the event ${event}.`,
      isDrift: letters.length === 0,
    };
  },
});

const RETRY = shardCommand({
  name: 'retry',
  about:
    'Handles the events of parked models again, in order. A model stays parked if its first event fails again.',
  examples: [
    ['fw-gen events dead-letters retry --handler WelcomeHandler', 'after fixing the handler'],
    ['fw-gen events dead-letters retry --all', 'everything'],
  ],
  inputs: { ...FILTER, all: flag('--all', 'all parked models') },
  consumerOf,
  each: ({ operations }, options, shard) => {
    const filter = filterOf(options);
    if (Object.keys(filter).length === 0 && options.all !== true)
      throw new InputError('Pass what to retry: --handler, --model, --event or --all.');
    return operations.deadLetters.retry({ ...filter, shard });
  },
  report: (found, { all }) => {
    const models = sum(found);
    const line = `${counted(models, 'model')} will be resumed. Check the result with fw-gen events lag.`;
    return { json: { models }, ...changed(models, line, all) };
  },
});

const DISCARD = shardCommand({
  name: 'discard',
  about:
    'Discards events permanently. They stay listed as discarded; the events that waited behind them are resumed.',
  examples: [
    ["fw-gen events dead-letters discard --handler WelcomeHandler --event <id> --note 'no such address'", ''],
  ],
  inputs: {
    ...FILTER,
    handler: required('--handler <name>', 'whose events to discard'),
    all: flag('--all', 'every parked event of the handler'),
    note: text('--note <text>', 'the reason, stored with the events'),
  },
  consumerOf,
  each: ({ operations }, options, shard) => {
    const { handler, modelId, eventId: event, all, note } = options;
    if (modelId === undefined && event === undefined && all !== true)
      throw new InputError('Pass what to discard: --event, --model or --all.');
    return operations.deadLetters.discard({ ...filterOf(options), handler, shard }, note);
  },
  report: (found, { all }) => {
    const events = sum(found);
    return { json: { events }, ...changed(events, `${counted(events, 'event')} discarded.`, all) };
  },
});

/** `fw-gen events dead-letters` */
export const DEAD_LETTERS: CommandEntry = {
  name: 'dead-letters',
  about: 'Shows, retries or discards the events that handlers could not process.',
  commands: [LIST, SHOW, RETRY, DISCARD],
};

function filterOf({ handler, modelId, eventId: event }: Values<typeof FILTER>): DeadLetterFilter {
  return defined({ handler, modelId, eventId: event });
}

/** The log names a model as Model/id. */
function modelId(text: string): string {
  return text.replace(/^.*\//, '');
}

function eventId(text: string): string {
  if (UUID.test(text)) return text;
  throw new InvalidArgumentError(`${text} is not the id of an event.`);
}

/** Nothing to change is no success if the caller has named what to change. */
function changed(count: number, line: string, all = false) {
  const none = 'No dead letter matches: nothing has changed.';
  return count > 0 ? { lines: [line] } : { none, isDrift: !all };
}

function sum(found: readonly Found<number>[]): number {
  return found.reduce((total, { value: each }) => total + each, 0);
}

function table(letters: readonly DeadLetter[]): readonly string[] {
  return tableLines(letters, {
    SHARD: ({ shard }) => shard,
    HANDLER: ({ handler }) => handler,
    STATE: stateOf,
    MODEL: ({ modelName, modelId }) => `${modelName} ${modelId}`,
    EVENT: ({ eventType }) => eventType,
    ID: ({ eventId }) => eventId,
    ATTEMPTS: ({ attempts }) => attempts,
    ERROR: ({ errorMessage }) => oneLine(errorMessage ?? ''),
  });
}

function stateOf({ state, retrying }: DeadLetter): string {
  return retrying ? `${state}, retrying` : state;
}

function detailsText(letter: DeadLetterDetails): string {
  const { event, errorCode, errorMessage = '', errorStack } = letter;
  const { action } = event;
  const lines = factLines(
    {
      event: `${letter.eventId}  ${letter.eventType} version ${event.eventVersion}`,
      handler: `${letter.handler} on shard ${letter.shard}`,
      state: stateOf(letter),
      model: `${letter.modelName} ${letter.modelId} version ${event.modelVersion}`,
      created: event.createdDate,
      parked: letter.parkedDate,
      failed: letter.failedDate,
      discarded: letter.discardedDate,
      note: letter.note,
      action: action === null ? event.actionId : `${action.name} ${event.actionId}`,
      principal: action?.principal,
      params: action === null ? undefined : JSON.stringify(action.params),
      payload: JSON.stringify(event.payload),
      attempts: letter.attempts,
      error: errorCode === undefined ? undefined : `${errorCode} ${errorMessage}`,
      stack: errorStack === undefined ? undefined : `\n${errorStack}`,
    },
    ':',
  );
  return lines.map(printable).join('\n');
}
