import { setTimeout as sleep } from 'node:timers/promises';
import type { SagaSummary, ShardLag } from '../../runtime/operations.js';
import { type CommandEntry, flag, type Report, value, wholeNumber } from '../command.js';
import { EXIT } from '../exit.js';
import { cell, durationText } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { consumerLines } from './lag.js';
import { FRAME, onEach, operatorCommand, type Session } from './operator-command.js';

/** Maximum journal entries that are counted, on each shard. */
const MOST_ENTRIES = 1_000;
/** Maximum running and parked sagas that are shown, the oldest ones. */
const MOST_SAGAS = 200;
const CLEAR = '\u001B[2J\u001B[H';

/** `fw-gen top` */
export const TOP: CommandEntry = operatorCommand({
  name: 'top',
  about: 'Shows shards, handlers, sinks, scheduled actions, sagas and the journal, refreshed until Ctrl-C.',
  examples: [
    ['fw-gen top', 'every two seconds'],
    ['fw-gen top --once --format json', 'for scripts'],
  ],
  inputs: {
    ...FRAME,
    once: flag('--once', 'show it once, and end'),
    every: value('--every <seconds>', 'time between two views', wholeNumber(1, 3_600), 2),
  },
  run: async (session, { once, every, format }, { output, signal }) => {
    if (once || format === 'json') return viewOf(session);
    while (!signal.aborted) {
      const { lines = [] } = await viewOf(session);
      output.info(`${CLEAR}${new Date().toISOString()}, every ${every} s\n\n${lines.join('\n')}`);
      await sleep(every * 1_000, undefined, { signal }).catch(() => {});
    }
    return EXIT.success;
  },
});

async function viewOf({ databases, operations, journal, shards }: Session): Promise<Report> {
  const { listSagasOn } = await import('../../runtime/operations.js');
  const { found, failed } = await onEach({ shards }, async (shard) => {
    const [[lag], entries] = await Promise.all([operations.lag(shard), journal.open(shard, MOST_ENTRIES)]);
    return { lag, journal: entries.length };
  });
  const pages = await Promise.all(
    (['RUNNING', 'PARKED'] as const).map((state) =>
      listSagasOn(databases, { state, limit: MOST_SAGAS }).then(
        ({ items }) => items,
        () => [],
      ),
    ),
  );
  const sagas = pages.flat();
  const lags = found.flatMap(({ name, value: { lag } }) => (lag === undefined ? [] : [{ ...lag, name }]));
  const rows = [
    ...found.map(({ name, shard, value: { lag, journal: open } }) => ({ name, shard, lag, open, error: '' })),
    ...failed.map(({ name, shard, value: error }) => ({ name, shard, lag: undefined, open: 0, error })),
  ];
  const shardLines = tableLines(rows, {
    SHARD: ({ shard }) => shard,
    NAME: ({ name }) => name,
    'LOG BEHIND': ({ lag }) => (lag === undefined ? '' : durationText(lag.horizon.ageMs)),
    DUE: ({ lag }) => lag?.dueActions,
    FAILED: ({ lag }) => lag?.failedActions,
    JOURNAL: ({ open }) => open,
    STATE: ({ lag, error }) => (lag === undefined ? cell(error) : stateOf(lag)),
  });
  return {
    json: { shards: lags, failed, sagas },
    lines: [...shardLines, '', ...consumerLines(lags), ...sagaLines(sagas)],
    isDrift: failed.length > 0,
  };
}

function stateOf({ failovers, actionsWaitFor }: ShardLag): string {
  if (failovers.length > 0) return 'has failed over; see fw-gen events failovers';
  return actionsWaitFor === undefined ? 'answers' : `scheduled actions wait: ${cell(actionsWaitFor)}`;
}

/** Each saga with the number of its runs, the oldest of them, and how many make no progress. */
function sagaLines(sagas: readonly SagaSummary[]): readonly string[] {
  const names = [...new Set(sagas.map(({ saga }) => saga))];
  const bySaga = names.map((name) => [name, sagas.filter(({ saga }) => saga === name)] as const);
  const table = tableLines(bySaga, {
    SAGA: ([saga]) => saga,
    RUNS: ([, runs]) => (runs.length >= MOST_SAGAS ? `${MOST_SAGAS}+` : runs.length),
    OLDEST: ([, runs]) =>
      durationText(Date.now() - Math.min(...runs.map(({ startedDate }) => startedDate.getTime()))),
    STUCK: ([, runs]) => runs.filter(({ stuck }) => stuck !== undefined).length,
  });
  return table.length === 0 ? [] : ['', ...table];
}
