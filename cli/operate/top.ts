import { setTimeout as sleep } from 'node:timers/promises';
import { durationText } from '../../runtime/duration-text.js';
import type { ShardLag } from '../../runtime/operations.js';
import { type CommandEntry, flag, type Report, value, wholeNumber } from '../command.js';
import { oneLine } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { consumerLines } from './lag.js';
import {
  FRAME,
  failureReport,
  type NamedShard,
  onEach,
  operatorCommand,
  type Session,
} from './operator-command.js';

/** Maximum journal entries that are counted, on each shard. */
const MOST_ENTRIES = 1_000;
const CLEAR = '\u001B[2J\u001B[H';

/** `fw-gen top` */
export const TOP: CommandEntry = operatorCommand({
  name: 'top',
  about:
    'Shows shards, handlers, sinks, scheduled actions, sagas and the journal, again and again until Ctrl+C.',
  examples: [
    ['fw-gen top', 'every two seconds'],
    ['fw-gen top --once --format json', 'for scripts'],
  ],
  inputs: {
    ...FRAME,
    once: flag('--once', 'show it once, and end'),
    every: value('--every <seconds>', 'time between two views', wholeNumber(1, 3_600), 2),
  },
  isVisitor: () => true,
  run: async (session, { every, once, format }, { output, signal }) => {
    if (once === true || format === 'json') {
      const { errors = [], ...view } = await viewOf(session);
      // The table shows why single shards do not answer.
      return errors.length === session.shards.length ? { ...view, lines: [], errors } : view;
    }
    while (!signal.aborted) {
      const { lines = [] } = await viewOf(session);
      output.info(`${CLEAR}${new Date().toISOString()}, every ${every} s\n\n${lines.join('\n')}`);
      await sleep(every * 1_000, undefined, { signal }).catch(() => {});
    }
    return {};
  },
});

/** A shard, or why it does not answer. */
interface Row extends NamedShard {
  readonly lag?: ShardLag | undefined;
  /** Number of open journal entries. */
  readonly open?: number;
  readonly error?: string;
}

async function viewOf({ runtime, databases, operations, shards }: Session): Promise<Report> {
  const journal = runtime.journalOn(databases);
  const { found, failed } = await onEach({ shards }, async (shard) => {
    const [[lag], entries] = await Promise.all([operations.lag(shard), journal.open(shard, MOST_ENTRIES)]);
    return { lag, open: entries.length };
  });
  const lags = found.flatMap(({ name, value: { lag } }) => (lag === undefined ? [] : [{ ...lag, name }]));
  const rows: readonly Row[] = [
    ...found.map(({ value, ...shard }) => ({ ...shard, ...value })),
    ...failed.map(({ value: error, ...shard }) => ({ ...shard, error })),
  ];
  const shardLines = tableLines(rows, {
    SHARD: ({ shard }) => shard,
    NAME: ({ name }) => name,
    'LOG BEHIND': ({ lag }) => (lag === undefined ? '' : durationText(lag.horizon.ageMs)),
    DUE: ({ lag }) => lag?.dueActions,
    FAILED: ({ lag }) => lag?.failedActions,
    JOURNAL: ({ open }) => open,
    STATE: ({ lag, error }) => (lag === undefined ? error : stateOf(lag)),
  });
  const { json, ...failures } = failureReport(failed);
  return {
    ...failures,
    json: { shards: lags, ...json },
    lines: [...shardLines, '', ...consumerLines(lags), ...sagaLines(lags)],
  };
}

function stateOf({ failovers, actionsWaitFor }: ShardLag): string {
  if (failovers.length > 0) return 'has failed over; see fw-gen events failovers';
  return actionsWaitFor === undefined ? 'answers' : `scheduled actions wait: ${oneLine(actionsWaitFor)}`;
}

/** The runs of each saga that have not ended. */
function sagaLines(lags: readonly ShardLag[]): readonly string[] {
  const rows = lags.flatMap(({ shard, sagas }) => sagas.map((saga) => ({ shard, ...saga })));
  const table = tableLines(rows, {
    SHARD: ({ shard }) => shard,
    SAGA: ({ saga }) => saga,
    RUNNING: ({ running }) => running,
    PARKED: ({ parked }) => parked,
    OLDEST: ({ oldestMs }) => durationText(oldestMs),
  });
  return table.length === 0 ? [] : ['', ...table];
}
