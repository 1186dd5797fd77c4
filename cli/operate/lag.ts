import { durationText } from '../../runtime/duration-text.js';
import type { ConsumerLag, Failover, HorizonHolder, ShardLag } from '../../runtime/operations.js';
import type { CommandEntry } from '../command.js';
import { cell, counted, oneLine } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { shardCommand } from './operator-command.js';

/** `fw-gen events lag` */
export const LAG: CommandEntry = shardCommand({
  name: 'lag',
  about:
    'Shows the position of each handler on each shard, and what blocks delivery. Exits with 1 if an operator should act.',
  examples: [
    ['fw-gen events lag', 'all handlers on all shards'],
    ['fw-gen events lag --shard mexico-1', 'of one shard'],
    ['fw-gen events lag --format json', 'for scripts and monitoring'],
  ],
  inputs: {},
  each: ({ operations }, _, shard) => operations.lag(shard),
  report: (found) => {
    const shards = found.flatMap(({ name, value }) => value.map((lag) => ({ ...lag, name })));
    const table = consumerLines(shards);
    const isIdle = found.length > 0 && table.length === 0;
    return {
      json: { shards },
      lines: [
        ...(isIdle ? ['No handler has run yet.'] : table),
        ...shards.flatMap((lag) => obstacles(lag).map((line) => `${lag.shard} ${line}`)),
      ],
      isDrift: !shards.every(isQuiet),
    };
  },
});

/** A table of the handlers and sinks of shards. */
export function consumerLines(shards: readonly (ShardLag & { readonly name: string })[]): readonly string[] {
  const rows = shards.flatMap((lag) => lag.consumers.map((consumer) => ({ ...lag, consumer })));
  return tableLines(rows, {
    SHARD: ({ shard }) => shard,
    NAME: ({ name }) => name,
    HANDLER: ({ consumer: { kind, name } }) => (kind === 'replay' ? `${name} (replay)` : name),
    BEHIND: ({ consumer: { behind } }) => (behind >= 10_000 ? '10000+' : behind),
    OLDEST: ({ consumer: { behind, behindMs } }) => (behind === 0 ? '' : durationText(behindMs)),
    PARKED: ({ consumer: { deadLetters, parkedModels } }) =>
      deadLetters === 0 ? '' : `${counted(deadLetters, 'event')} of ${counted(parkedModels, 'model')}`,
    STATE: ({ consumer }) => stateOf(consumer),
  });
}

/** True if no event is parked, no action has failed, and nothing waits for another release or an operator. */
function isQuiet({ consumers, failedActions, actionsWaitFor, failovers }: ShardLag): boolean {
  return (
    failedActions === 0 &&
    actionsWaitFor === undefined &&
    failovers.every(({ ahead }) => ahead.length === 0) &&
    consumers.every(({ deadLetters, waitingFor }) => deadLetters === 0 && waitingFor === undefined)
  );
}

function stateOf({ waitingFor, holder }: ConsumerLag): string {
  if (waitingFor !== undefined) return `waits: ${oneLine(waitingFor)}`;
  return holder === undefined ? 'no process' : `runs in ${holder.slice(0, 8)}`;
}

function obstacles({
  dueActions,
  failedActions,
  actionsWaitFor,
  failovers,
  horizon,
}: ShardLag): readonly string[] {
  return [
    ...(dueActions === 0 ? [] : [`${counted(dueActions, 'scheduled action')} due`]),
    ...(actionsWaitFor === undefined ? [] : [`scheduled actions wait: ${oneLine(actionsWaitFor)}`]),
    ...(failedActions === 0 ? [] : [`${counted(failedActions, 'scheduled action')} failed permanently`]),
    ...failovers.flatMap(failoverLines),
    ...horizon.holders.map(holderLine),
  ];
}

function failoverLines({ inWords, noticedDate, ahead }: Failover): readonly string[] {
  const summary = `${inWords}, noticed at ${noticedDate.toISOString()}; see fw-gen events failovers`;
  return [summary, ...ahead.map((each) => oneLine(each.inWords))];
}

function holderLine({ pid, preparedName, user, application, database, state, ageMs }: HorizonHolder): string {
  const parts = [
    ['process', pid],
    ['the prepared transaction', preparedName],
    ['role', user],
    ['application', application],
    ['database', database],
  ] as const;
  const who = parts.flatMap(([noun, name]) => (name === undefined ? [] : [`${noun} ${cell(String(name))}`]));
  const age = ageMs === undefined ? '' : ` for ${durationText(ageMs)}`;
  return `delivery is blocked${age} by ${[...who, ...(state === undefined ? [] : [state])].join(', ')}`;
}
