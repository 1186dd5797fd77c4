import type { JournalEntry, OperatorsJournal } from '../../runtime/operations.js';
import { CONFIG, type CommandEntry, FORMAT, required, value, wholeNumber } from '../command.js';
import { cell, printable } from '../terminal-text.js';
import { factLines, tableLines } from '../text-table.js';
import { untilSettled } from '../until-settled.js';
import {
  changeReport,
  cutLine,
  flatten,
  operatorCommand,
  type Session,
  shardCommand,
} from './operator-command.js';

const EXAMPLE_ID = '0190f5c2-7f3a-7b1c-8000-3f0c5ad1b2e4';
const ENTRY = { ...CONFIG, ...FORMAT, id: required('<id>', 'its id, as `journal list` shows it') };

const LIST = shardCommand({
  name: 'list',
  about: 'Lists open entries, oldest first on each shard. Exits with 1 if one is partially applied.',
  examples: [
    ['fw-gen journal list', 'partially applied plans'],
    ['fw-gen journal list --format json', 'for scripts and monitoring'],
  ],
  inputs: { limit: value('--limit <n>', 'maximum number per shard', wholeNumber(1, 10_000), 100) },
  each: (session, { limit }, shard) => journalOf(session).open(shard, limit),
  report: (found, { limit }) => {
    const entries = flatten(found);
    const lines = tableLines(entries, {
      ID: ({ id }) => id,
      STATE: ({ state }) => state,
      ACTION: ({ actionName }) => cell(actionName),
      STARTED: ({ startedDate }) => startedDate,
      'LEASED UNTIL': ({ leasedUntil }) => leasedUntil,
      ATTEMPTS: ({ attempts }) => attempts,
      SHARDS: ({ parts }) => parts.map(({ shard, status }) => `${shard} ${status}`).join(', '),
      NOTE: ({ note, lastError }) => cell(note ?? lastError),
    });
    // A running execution has leased its entry.
    const isDrift = entries.some(({ leasedUntil }) => leasedUntil === undefined);
    return {
      json: { entries },
      lines: [...lines, ...cutLine(found, limit, '--limit')],
      none: 'No interrupted cross-shard plan is partially applied.',
      isDrift,
    };
  },
});

const SHOW = operatorCommand({
  name: 'show',
  about: 'Shows one entry: the changes of each shard and whether they are applied.',
  examples: [[`fw-gen journal show ${EXAMPLE_ID}`, '']],
  inputs: ENTRY,
  run: async (session, { id }) => {
    const entry = await journalOf(session).show(id);
    return { json: entry, lines: describe(entry) };
  },
});

function describe(entry: JournalEntry): readonly string[] {
  const { lastError, note, attempts, parts } = entry;
  const facts = {
    entry: entry.id,
    state: entry.state,
    action: cell(entry.actionName),
    principal: cell(entry.principal),
    started: entry.startedDate,
    'leased until': entry.leasedUntil,
    attempts: attempts === 0 ? undefined : attempts,
    'last error': lastError === undefined ? undefined : printable(lastError),
    note: note === undefined ? undefined : printable(note),
  };
  const changes = parts.flatMap(({ shard, status, actionId, changes: each }) => [
    `${shard} ${status}, action ${actionId}`,
    ...each.map((change) => `  ${cell(change)}`),
  ]);
  return [...factLines(facts), ...changes];
}

const FINISH = operatorCommand({
  name: 'finish',
  about: 'Requests a server process to apply the missing changes now, and waits for it. Removes a flag.',
  examples: [[`fw-gen journal finish ${EXAMPLE_ID}`, 'after its cause is fixed']],
  inputs: { ...ENTRY, wait: value('--wait <seconds>', 'maximum wait, 0 to 600', wholeNumber(0, 600), 20) },
  run: async (session, { id, wait }, { signal }) => {
    const entry = await finish(journalOf(session), id, wait, signal);
    return changeReport(entry.state === 'closed', `${id} is finished.`, `${id} ${whyNot(entry)}.`, entry);
  },
});

/** The entry after the next attempt, or at the end of the wait. */
async function finish(
  journal: OperatorsJournal,
  id: string,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<JournalEntry> {
  const { attempts } = await journal.show(id);
  await journal.requestFinish(id);
  const settled = await untilSettled(waitSeconds, signal, async () => {
    const entry = await journal.show(id);
    return entry.state === 'closed' || entry.attempts > attempts ? entry : undefined;
  });
  return settled ?? journal.show(id);
}

function whyNot({ attempts, lastError }: JournalEntry): string {
  if (attempts > 0 && lastError !== undefined) return `is not finished: ${printable(lastError)}`;
  return 'is not finished yet. A server process with event delivery finishes it when one runs';
}

const FLAG = operatorCommand({
  name: 'flag',
  about: 'Flags an entry with a note instead of finishing it. It stays in the list.',
  examples: [[`fw-gen journal flag ${EXAMPLE_ID} --note 'refunded by hand'`, '']],
  inputs: { ...ENTRY, note: required('--note <text>', 'the reason, 1 to 2,000 characters') },
  run: async (session, { id, note }) => {
    await journalOf(session).flag(id, note);
    return { json: { id, flagged: true }, lines: [`${id} is flagged.`] };
  },
});

function journalOf({ runtime, databases }: Session): OperatorsJournal {
  return runtime.journalOn(databases);
}

/** `fw-gen journal` */
export const JOURNAL: CommandEntry = {
  name: 'journal',
  about:
    'Shows cross-shard plans that a crash or a lost connection has interrupted, and finishes or flags them. Those that ' +
    'ended with FW_CROSS_SHARD_PARTIAL are closed: they are for their callers to compensate.',
  commands: [LIST, SHOW, FINISH, FLAG],
};
