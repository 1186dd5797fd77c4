import { InvalidArgumentError } from 'commander';
import { defined } from '../../generator/schema/defined.js';
import type { FailoverReport } from '../../runtime/operations.js';
import { type CommandEntry, flag, instant, type Report, required, value, wholeNumber } from '../command.js';
import { InputError } from '../input-error.js';
import { cell, counted, oneLine } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { DEAD_LETTERS } from './dead-letters.js';
import { LAG } from './lag.js';
import {
  changeReport,
  type Found,
  FRAME,
  type NamedShard,
  named,
  operatorCommand,
  shardCommand,
} from './operator-command.js';
import { REBUILD } from './rebuild.js';
import { SCHEDULES } from './schedules.js';

const FAILOVERS = shardCommand({
  name: 'failovers',
  about:
    'Shows failovers to a standby and the events that they may have lost. Exits with 1 if events were lost.',
  examples: [
    ['fw-gen events failovers', 'of all shards'],
    ['fw-gen events failovers --shard mexico-1 --acknowledge', 'after the losses are resolved'],
  ],
  inputs: { acknowledge: flag('--acknowledge', 'mark these as handled and hide them') },
  each: async ({ operations }, { acknowledge }, shard) => {
    const reports = await operations.failovers(shard);
    if (acknowledge !== true) return { reports, left: 0 };
    await operations.acknowledgeFailovers(shard, reports);
    return { reports, left: (await operations.failovers(shard)).length };
  },
  report: (found, { acknowledge }) => {
    const failovers = named(found.map(({ value, ...shard }) => ({ ...shard, value: value.reports })));
    const open = found.filter(({ value: { left } }) => left > 0);
    return {
      json: { failovers },
      errors: open.map(
        ({ shard, name, value: { left } }) =>
          `${shard} ${name}: ${counted(left, 'failover')} not acknowledged, reported meanwhile: run the command again.`,
      ),
      lines: failoverLines(failovers),
      none: 'No unacknowledged failovers.',
      isDrift:
        open.length > 0 ||
        (acknowledge !== true &&
          failovers.some(({ ahead, lostCauses }) => ahead.length + lostCauses.length > 0)),
    };
  },
});

function failoverLines(failovers: readonly (FailoverReport & NamedShard)[]): readonly string[] {
  return failovers.flatMap(({ shard, name, inWords, noticedDate, lostSince, ahead, lostCauses }) => {
    const lines = [
      `${inWords}, noticed at ${noticedDate.toISOString()}`,
      ...[...ahead, ...lostCauses].map((each) => each.inWords),
      'if commits are lost, follow "Restore one shard" in docs/operations.md. Effects that handlers of other shards had ' +
        `here: fw-gen events replay <handler> --from ${lostSince.toISOString()} --shard <other shard>`,
    ];
    return lines.map((line) => `${shard} ${cell(name)}: ${oneLine(line)}`);
  });
}

const REPLAY = operatorCommand({
  name: 'replay',
  about: 'Replays past events to a handler, independently of its live delivery.',
  examples: [
    ['fw-gen events replay Balances --from 2026-01-31', 'since that day, UTC'],
    ['fw-gen events replay Balances --position 4711 --shard 1,0', 'from a position in the log'],
  ],
  inputs: {
    ...FRAME,
    handler: required('<handler>', 'its name'),
    from: value('--from <time>', 'events from this time on: 2026-01-31, 2026-01-31T12:00:00Z', instant),
    position: value(
      '--position <n>',
      'events from this value of the outbox column `position` on; needs --shard',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    ),
    model: value('--model <model/id>', 'all events of one model: Wallet/0190f5c2-...', modelAndId),
    again: flag(
      '--again',
      'also repeat the actions that the handler starts. Default: they return their first results. ' +
        'A transactional handler requires it: each of its writes is applied a second time',
    ),
  },
  run: async ({ runtime, operations, shard }, { handler, from, position, model, again }) => {
    const starts = [
      ...(from === undefined ? [] : [{ time: from }]),
      ...(position === undefined ? [] : [{ position }]),
      ...(model === undefined ? [] : [{ model: runtime.idNamed(model.name, model.id) }]),
    ];
    const [start] = starts;
    if (start === undefined || starts.length > 1)
      throw new InputError('Pass a start: one of --from, --position and --model.');
    const ordered = await operations.replay(handler, start, { again: again === true, ...defined({ shard }) });
    const replays = ordered.map(({ shard: on, name }) => ({ shard: on, name }));
    const table = tableLines(replays, { SHARD: (each) => each.shard, REPLAY: ({ name }) => name });
    return changeReport(
      replays.length > 0,
      [
        ...table,
        'A process that runs the handler performs them. Check progress with fw-gen events lag.',
      ].join('\n'),
      `There is nothing to replay: ${handler} has passed no event${model === undefined ? '' : ` of ${model.name}/${model.id}`}.`,
      { replays },
    );
  },
});

function modelAndId(text: string): { readonly name: string; readonly id: string } {
  const [, name, id] = /^([^/\s]+)\/([^/\s]+)$/.exec(text) ?? [];
  if (name === undefined || id === undefined) throw new InvalidArgumentError('Write Model/id.');
  return { name, id };
}

const OUTCOMES = {
  unchanged: 'is on the server that wrote its log: nothing to do',
  adopted:
    'is on another server, and needs no new epoch: adopted. If it was restored from a dump, follow "Restore one shard" in docs/operations.md',
  opened: 'starts a new epoch; the rest of the old log is delivered first',
} as const;

const REBASE = shardCommand({
  name: 'rebase',
  about:
    'Resumes delivery after shards were restored on, or moved to, another server. Stop all writes to the old server first.',
  examples: [['fw-gen events rebase --shard mexico-1', 'after its move']],
  inputs: {},
  each: async ({ operations }, _, shard) => ({
    rebased: await operations.rebase(shard),
    failovers: await operations.failovers(shard),
  }),
  report: (found) => {
    const shards = named(found.map(({ value, ...shard }) => ({ ...shard, value: value.rebased })));
    const failovers = named(found.map(({ value, ...shard }) => ({ ...shard, value: value.failovers })));
    const lines = shards.map(({ shard, name, outcome, epoch, renumbered }) => {
      const events = counted(renumbered, 'event');
      const more = renumbered === 0 ? '' : `; ${events} got new positions, so that handlers read them`;
      return `${shard} ${name} ${OUTCOMES[outcome]} (epoch ${epoch})${more}`;
    });
    return { json: { shards, failovers }, lines: [...lines, ...failoverLines(failovers)] };
  },
});

const RESUME = shardCommand({
  name: 'resume',
  about:
    'Restarts a stopped relay sink at its checkpoint, or a halted rebuild. Ends the pauses of a sink or handler that ' +
    'waits for its receiver.',
  examples: [
    ['fw-gen events resume relay:orders', 'on all shards'],
    ['fw-gen events resume relay:orders --shard mexico-1', 'on one shard'],
  ],
  inputs: {
    consumer: required('<name>', 'as fw-gen events lag shows it: relay:<sink>, a handler or a rebuild'),
  },
  each: ({ operations }, { consumer }, shard) => operations.resume(consumer, shard),
  report: (found) => changesReport(found, 'resumed', 'was not stopped and does not wait'),
});

const NARROW = shardCommand({
  name: 'narrow',
  about:
    'Removes an item from the stored selection, so that a release whose handler no longer selects it continues. ' +
    'Its events that are not yet handled are skipped. Stop the processes of earlier releases first.',
  examples: [['fw-gen events narrow Statistics --without event:RemovedEvent', 'on all shards']],
  inputs: {
    consumer: required('<name>', 'the handler, or relay:<sink>'),
    without: required(
      '--without <item>',
      'event:<name>, model:<name> or transactional, as fw-gen events lag shows it',
    ),
  },
  each: ({ operations }, { consumer, without }, shard) => operations.narrow(consumer, without, shard),
  report: (found, { without }) => changesReport(found, 'narrowed', `does not select ${without}`),
});

/** Whether a change was made on each shard. The exit code is 1 if there was nothing to change. */
function changesReport(found: readonly Found<number>[], done: string, not: string): Report {
  const shards = found.map(({ shard, name, value: changed }) => ({ shard, name, [done]: changed > 0 }));
  return {
    json: { shards },
    lines: found.map(({ shard, name, value: changed }) => `${shard} ${name}: ${changed > 0 ? done : not}`),
    isDrift: found.every(({ value: changed }) => changed === 0),
  };
}

const RETAIN = shardCommand({
  name: 'retain',
  about:
    'Creates partitions in advance, and deletes old rows that nothing needs. Run it as the owner of the tables. --keep-days defaults to fw.retention.keep-days of the configuration.',
  examples: [
    ['fw-gen events retain', 'with the settings of the configuration: for a daily job'],
    ['fw-gen events retain --keep-days 30 --shard mexico-1', 'one shard'],
  ],
  inputs: {
    keepDays: value(
      '--keep-days <n>',
      'minimum age of deleted rows; without it nothing is deleted',
      wholeNumber(1, 36_500),
    ),
    partitionDays: value(
      '--partition-days <n>',
      'time that a new partition covers (default: 7)',
      wholeNumber(1, 366),
    ),
    ahead: value('--ahead <n>', 'number of partitions created in advance (default: 4)', wholeNumber(1, 366)),
  },
  each: ({ operations, config }, { keepDays, partitionDays, ahead }, shard) =>
    operations.retain({
      keepDays: keepDays ?? config.retention.keepDays,
      ...defined({ partitionDays, ahead }),
      shard,
    }),
  report: (found, { keepDays }, { runtime, config }) => {
    const reports = named(found);
    const lines = reports.flatMap((report) => [
      `${report.shard} ${report.name}: ${runtime.describeReport(report) ?? 'nothing to do'}`,
      ...report.kept.map(({ partition, reason }) => `  kept ${partition}: ${reason}`),
      ...report.unreachable.map(
        (shard) => `  kept the rows that belong to shard ${shard}, which is unreachable`,
      ),
    ]);
    if ((keepDays ?? config.retention.keepDays) === undefined)
      lines.push('Nothing is deleted: neither --keep-days nor fw.retention.keep-days is set.');
    return { json: { shards: reports }, lines };
  },
});

/** `fw-gen events` */
export const EVENTS: CommandEntry = {
  name: 'events',
  about: 'Shows and steers the delivery of events: lag, dead letters, replays, retention, scheduled actions.',
  commands: [LAG, FAILOVERS, DEAD_LETTERS, REPLAY, REBUILD, REBASE, RESUME, NARROW, RETAIN, SCHEDULES],
};
