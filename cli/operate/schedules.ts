import { defined } from '../../generator/schema/defined.js';
import { type CommandEntry, choice, flag, required, text, value, wholeNumber } from '../command.js';
import { cell } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { FRAME, operatorCommand, shardCommand } from './operator-command.js';

const STATES = ['pending', 'running', 'done', 'failed', 'cancelled'] as const;

const LIST = shardCommand({
  name: 'list',
  about: 'Lists scheduled actions, the next due first on each shard.',
  examples: [
    ['fw-gen events schedules list', 'pending, running and failed actions'],
    ['fw-gen events schedules list --state failed --format json', ''],
  ],
  inputs: {
    state: value(
      '--state <state>',
      `${STATES.join(', ')}; default: pending, running and failed`,
      choice(STATES),
    ),
    action: text('--action <name>', 'of this action'),
    limit: value('--limit <n>', 'maximum number per shard', wholeNumber(1, 10_000), 100),
    params: flag('--params', 'also show their params, which may contain secrets'),
  },
  each: ({ operations }, { state, action, limit }, shard) =>
    operations.schedules.list({ ...defined({ state, action }), limit, shard }),
  report: (found, { params: withParams }) => {
    const actions = found.flatMap(({ value: each }) => each);
    const lines = tableLines(actions, {
      SHARD: ({ shard }) => shard,
      ID: ({ id }) => id,
      STATE: ({ state }) => state,
      ACTION: ({ actionName }) => actionName,
      DUE: ({ dueDate }) => dueDate,
      ATTEMPTS: ({ attempts }) => attempts,
      ERROR: ({ errorMessage }) => cell(errorMessage),
      ...(withParams === true
        ? { PARAMS: ({ params }: { readonly params: unknown }) => cell(JSON.stringify(params)) }
        : {}),
    });
    const schedules = actions.map(({ params, ...each }) =>
      withParams === true ? { ...each, params } : each,
    );
    return { json: { schedules }, lines, none: 'No scheduled actions.' };
  },
});

interface Change {
  readonly name: 'cancel' | 'retry';
  readonly about: string;
  readonly done: string;
  readonly refused: string;
}

function changeCommand({ name, about, done, refused }: Change): CommandEntry {
  return operatorCommand({
    name,
    about,
    examples: [[`fw-gen events schedules ${name} 0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4`, '']],
    inputs: { ...FRAME, id: required('<id>', 'its id, as `schedules list` shows it') },
    run: async ({ operations }, { id }) => {
      const changed = await operations.schedules[name](id);
      return {
        json: { id, [name]: changed },
        lines: changed ? [`${id} ${done}.`] : [],
        errors: changed ? [] : [`${id} ${refused}.`],
        isDrift: !changed,
      };
    },
  });
}

/** `fw-gen events schedules` */
export const SCHEDULES: CommandEntry = {
  name: 'schedules',
  about: 'Lists, cancels and retries scheduled actions.',
  commands: [
    LIST,
    changeCommand({
      name: 'cancel',
      about: 'Cancels a scheduled action that has not started.',
      done: 'was cancelled',
      refused: 'was not cancelled: it has run, is running or does not exist',
    }),
    changeCommand({
      name: 'retry',
      about: 'Retries a failed scheduled action with a new series of attempts.',
      done: 'will be retried',
      refused: 'was not retried: it is not in state failed',
    }),
  ],
};
