import { setTimeout as sleep } from 'node:timers/promises';
import { durationText } from '../../runtime/duration-text.js';
import type { RebuildProgress } from '../../runtime/operations.js';
import { type CommandEntry, flag, type Report, required } from '../command.js';
import { InputError } from '../input-error.js';
import { counted, oneLine } from '../terminal-text.js';
import { FRAME, operatorCommand, type Session } from './operator-command.js';

const LOOK_MS = 1_000;
/** One that is being abandoned is gone at the next look. */
const HALTED = /^halted: (?!it was abandoned$)/;

/** `fw-gen events rebuild` */
export const REBUILD: CommandEntry = operatorCommand({
  name: 'rebuild',
  about:
    'Rebuilds the tables of a projection from the log, in copies that then replace the rows in one transaction. A process that runs the handler does the work.',
  examples: [
    ['fw-gen events rebuild MerchantRevenue --follow', 'on all shards; shows the progress until the end'],
    ['fw-gen events rebuild MerchantRevenue --abandon', 'the present rows stay'],
  ],
  inputs: {
    ...FRAME,
    handler: required('<handler>', 'the name of a transactional handler with a `projection`'),
    follow: flag('--follow', 'show the progress until the end; also of a rebuild that is under way'),
    abandon: flag('--abandon', 'end a rebuild that is under way'),
  },
  isVisitor: ({ follow }) => follow === true,
  run: async ({ operations, shard }, { handler, follow, abandon }, { output, signal }) => {
    if (follow === true && abandon === true) throw new InputError('Pass --follow or --abandon, not both.');
    if (abandon === true) {
      const abandoned = await operations.abandonRebuild(handler, shard);
      return { json: { abandoned }, lines: [`${counted(abandoned, 'rebuild')} abandoned.`] };
    }
    const isUnderWay = follow === true && (await operations.rebuilds(handler, shard)).length > 0;
    const ordered = isUnderWay ? [] : await operations.rebuild(handler, shard);
    if (follow !== true) return orderedReport(ordered);
    const first = new Map<string, number>();
    const startedMs = Date.now();
    const followed = new Set(ordered.map(nameOf));
    for (;;) {
      const under = await operations.rebuilds(handler, shard);
      for (const each of under) followed.add(nameOf(each));
      if (under.length === 0) {
        for (const each of await operations.rebuilds(handler, shard, true)) followed.delete(nameOf(each));
        const end =
          followed.size === 0 ? 'The projection is rebuilt.' : `Abandoned: ${[...followed].join(', ')}.`;
        return { json: { rebuilds: [] }, lines: [end], isDrift: followed.size > 0 };
      }
      // Standard output has only the result.
      for (const each of under) output.error(progressLine(each, first, Date.now() - startedMs));
      if (under.every(({ waitingFor }) => HALTED.test(waitingFor ?? '')))
        return {
          json: { rebuilds: under },
          lines: ['Fix the handler, then run `fw-gen events resume` with this name, or pass --abandon.'],
          isDrift: true,
        };
      const ended = await sleep(LOOK_MS, true, { signal }).catch(() => false);
      if (!ended)
        return { json: { rebuilds: under }, lines: ['The rebuild continues without this command.'] };
    }
  },
});

function orderedReport(ordered: Awaited<ReturnType<Session['operations']['rebuild']>>): Report {
  return {
    json: { rebuilds: ordered.map(({ shard, name }) => ({ shard, name })) },
    lines: [
      ...ordered.map(({ shard, name }) => `${shard} ${name}`),
      'A process that runs the handler performs them. Pass --follow to see the progress.',
    ],
  };
}

function nameOf({ shard, name }: Pick<RebuildProgress, 'shard' | 'name'>): string {
  return `${shard} ${name}`;
}

/** @param first the position at which each rebuild was first seen */
function progressLine(rebuild: RebuildProgress, first: Map<string, number>, passedMs: number): string {
  const { position, end, waitingFor } = rebuild;
  const key = nameOf(rebuild);
  const start = first.get(key) ?? position;
  first.set(key, start);
  if (waitingFor !== undefined) return `${key}: waits for ${oneLine(waitingFor)}`;
  const perSecond = passedMs === 0 ? 0 : ((position - start) / passedMs) * 1_000;
  const share = end === 0 ? 100 : Math.floor((Math.max(0, position) / end) * 100);
  const left = perSecond === 0 ? '' : `, ${durationText(((end - position) / perSecond) * 1_000)} left`;
  return `${key}: position ${Math.max(0, position)} of ${end}, ${share} %, ${Math.round(perSecond)} per second${left}`;
}
