import { defined } from '../../generator/schema/defined.js';
import type { RecurringAction } from '../../runtime/operations.js';
import {
  CONFIG,
  type CommandEntry,
  choice,
  FORMAT,
  flag,
  required,
  text,
  value,
  wholeNumber,
} from '../command.js';
import { cell } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { changeReport, cutLine, flatten, operatorCommand, shardCommand } from './operator-command.js';

const STATES = ['pending', 'running', 'done', 'failed', 'cancelled'] as const;

const LIST = shardCommand({
  name: 'list',
  about: 'Lists scheduled actions, the next due first on each shard, and recurring ones.',
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
  each: async ({ operations: { schedules } }, { state, action, limit }, shard) => ({
    scheduled: await schedules.list({ ...defined({ state, action }), limit, shard }),
    recurring:
      state === undefined
        ? (await schedules.recurring(shard)).filter(({ actionName }) => (action ?? actionName) === actionName)
        : [],
  }),
  report: (found, { params: withParams, limit }) => {
    const lists = found.map(({ value, ...shard }) => ({ ...shard, value: value.scheduled }));
    const actions = flatten(lists);
    const recurring = found.flatMap(({ value }) => value.recurring);
    const lines = tableLines(actions, {
      SHARD: ({ shard }) => shard,
      ID: ({ id }) => id,
      STATE: ({ state }) => state,
      ACTION: ({ actionName }) => actionName,
      DUE: ({ dueDate }) => dueDate,
      'NEXT ATTEMPT': ({ state, dueDate, nextDate }) =>
        state === 'pending' && nextDate > dueDate ? nextDate : '',
      ATTEMPTS: ({ attempts }) => attempts,
      ERROR: ({ errorMessage }) => cell(errorMessage),
      ...(withParams === true
        ? { PARAMS: ({ params }: { readonly params: unknown }) => cell(JSON.stringify(params)) }
        : {}),
    });
    const schedules = actions.map(({ params, ...each }) =>
      withParams === true ? { ...each, params } : each,
    );
    const spacing = lines.length > 0 && recurring.length > 0 ? [''] : [];
    return {
      json: { schedules, recurring },
      lines: [
        ...lines,
        ...cutLine(lists, limit, '--limit or --action'),
        ...spacing,
        ...recurringLines(recurring),
      ],
      none: 'No scheduled actions.',
    };
  },
});

function recurringLines(recurring: readonly RecurringAction[]): readonly string[] {
  return tableLines(recurring, {
    SHARD: ({ shard }) => shard,
    RECURRING: ({ actionName }) => actionName,
    CRON: ({ cron }) => cell(cron),
    ZONE: ({ zone }) => cell(zone),
    NEXT: ({ isPaused, nextDate }) => (isPaused ? 'paused' : nextDate),
    LAST: ({ lastDate }) => lastDate ?? '-',
    STATE: ({ lastState }) => lastState ?? '-',
  });
}

/** `pause` or `resume`. */
function pauseCommand(name: 'pause' | 'resume', about: string): CommandEntry {
  return shardCommand({
    name,
    about,
    examples: [[`fw-gen events schedules ${name} NightlyReportAction`, '']],
    inputs: { action: required('<action>', 'its stable name, as `schedules list` shows it') },
    each: ({ operations }, { action }, shard) => operations.schedules[name](action, shard),
    report: (found, { action }) => {
      const changed = found.some(({ value: count }) => count > 0);
      return {
        json: { action, [name]: changed },
        lines: changed ? [`${action} was ${name}d.`] : [],
        isDrift: !changed,
        none: `${action} is not a recurring action.`,
      };
    },
  });
}

const CHANGES = {
  cancel: {
    about: 'Cancels a scheduled action that has not started.',
    done: 'was cancelled',
    refused: 'was not cancelled: it has run, is running or does not exist',
  },
  retry: {
    about: 'Retries a failed scheduled action with a new series of attempts.',
    done: 'will be retried',
    refused: 'was not retried: it is not in state failed, or another run of it is in progress',
  },
};

function changeCommand(name: keyof typeof CHANGES): CommandEntry {
  const { about, done, refused } = CHANGES[name];
  return operatorCommand({
    name,
    about,
    examples: [[`fw-gen events schedules ${name} 0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4`, '']],
    inputs: { ...CONFIG, ...FORMAT, id: required('<id>', 'its id, as `schedules list` shows it') },
    run: async ({ operations }, { id }) => {
      const changed = await operations.schedules[name](id);
      return changeReport(changed, `${id} ${done}.`, `${id} ${refused}.`, { id, [name]: changed });
    },
  });
}

/** `fw-gen events schedules` */
export const SCHEDULES: CommandEntry = {
  name: 'schedules',
  about: 'Lists, cancels and retries scheduled actions, pauses and resumes recurring ones.',
  commands: [
    LIST,
    changeCommand('cancel'),
    changeCommand('retry'),
    pauseCommand(
      'pause',
      'Pauses a recurring action: its due times pass without a run, also after a restart.',
    ),
    pauseCommand('resume', 'Resumes a recurring action at its next due time.'),
  ],
};
