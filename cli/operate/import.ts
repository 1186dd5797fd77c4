import { createReadStream, createWriteStream, openSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { InvalidArgumentError } from 'commander';
import type { Caller, JsonObject, JsonValue } from '../../runtime/operations.js';
import {
  CONFIG,
  type CommandEntry,
  FORMAT,
  type Input,
  type Report,
  required,
  text,
  value,
  wholeNumber,
} from '../command.js';
import { InputError } from '../input-error.js';
import { applicationOf, exportOf } from '../load-module.js';
import { counted } from '../terminal-text.js';
import type { ImportRun, RejectedLine } from './import-run.js';
import { readClaims } from './keys.js';
import { operatorCommand } from './operator-command.js';

const PROGRESS_MS = 1_000;
const SECOND_MS = 1_000;
/** For how long a line is attempted while its shard is down or busy. */
const PATIENCE_MS = 60_000;
/** Why lines are left open, and what to do. */
const OPEN = 'their shard was down or busy, and they may have taken effect. Run the same command again.';

const NAME: Input<string> = {
  ...required('--name <name>', 'identifies the import: part of the key of each line, with its number'),
  parse: (name) => {
    if (/^[\x21-\x7e]{1,100}$/.test(name)) return name;
    throw new InvalidArgumentError('Expected 1 to 100 visible ASCII characters without spaces.');
  },
};

/** `fw-gen import` */
export const IMPORT: CommandEntry = operatorCommand({
  name: 'import',
  about:
    'Runs an action for each line of a file, which is a JSON object with its params. A repetition under the same name continues: lines that have taken effect take none again. Lines without effect are written to a file, but for those whose shard was down or busy: they may have taken effect, and the same command settles them.',
  examples: [
    [
      'fw-gen import WalletDepositMoneyAction deposits.ndjson --name bonus-2027 --application dist/generated/application.js',
      'line by line, the lines of one wallet in their order',
    ],
    [
      'fw-gen import ... --key reference --principal migration --claims \'{"role":"operator"}\'',
      'the key of a line is its field `reference`; the rule of the action sees the principal',
    ],
  ],
  inputs: {
    ...CONFIG,
    ...FORMAT,
    action: required('<action>', 'the name of the action: that of its class, unless it declares another'),
    file: required('<file>', 'one JSON object per line; - for standard input'),
    application: required('--application <module>', 'compiled module that exports the application'),
    name: NAME,
    key: text('--key <field>', 'field that identifies a line instead of its number; it need not be a param'),
    collaborators: text(
      '--collaborators <module>',
      'compiled module whose default export is the collaborators of the application, or a function that returns them',
    ),
    principal: text('--principal <name>', 'whose action it is; default: import'),
    claims: text('--claims <json>', 'claims of the principal, as a JSON object'),
    errors: text(
      '--errors <file>',
      'lines without effect of this run; default: the file with .errors.ndjson',
    ),
    concurrency: value('--concurrency <n>', 'maximum lines at once, 1 to 4096', wholeNumber(1, 4_096), 512),
  },
  run: async ({ runtime, config, databases }, flags, { output, signal }) => {
    const { file, name } = flags;
    const caller: Caller = { name: flags.principal ?? 'import', claims: readClaims(flags.claims) };
    const lines = file === '-' ? process.stdin : createReadStream(file, { fd: openSync(file, 'r') });
    const application = await applicationOf(flags.application);
    const given = flags.collaborators === undefined ? {} : await exportOf(flags.collaborators, 'default');
    const action = runtime.openJsonAction(flags.action, {
      ...{ databases, config, caller, warn: output.error },
      application,
      collaborators: typeof given === 'function' ? await given() : given,
    });
    const errorsFile = flags.errors ?? `${file === '-' ? 'import' : file}.errors.ndjson`;
    if (resolve(errorsFile) === resolve(file)) throw new InputError('Pass another file as --errors.');
    const rejected = rejectedFile(errorsFile);
    const { ImportRun, linesOf } = await import('./import-run.js');
    const run = new ImportRun({
      ...{ signal, reject: rejected.write, concurrency: flags.concurrency },
      read: (text) => action.read(text, flags.key),
      keyOf: keyOf(name, flags.key),
      patienceMs: PATIENCE_MS,
    });
    const startedMs = performance.now();
    const showProgress = (): void => output.error(progressOf(run, performance.now() - startedMs));
    const progress = setInterval(showProgress, PROGRESS_MS);
    try {
      await run.run(linesOf(lines, signal));
    } finally {
      clearInterval(progress);
      await action.close();
      await rejected.close(run.rejected === 0);
    }
    return importReport(run, rejected.file, {
      isStopped: signal.aborted,
      passedMs: performance.now() - startedMs,
    });
  },
});

/** @param errorsFile path of the lines without effect */
export function importReport(
  run: ImportCounts,
  errorsFile: string,
  { isStopped, passedMs }: { readonly isStopped: boolean; readonly passedMs: number },
): Report {
  const { done, rejected, open, read } = run;
  const stopped = isStopped ? [`Stopped after line ${read}. The same command continues.`] : [];
  return {
    json: { read, done, rejected, open, errors: rejected === 0 ? undefined : errorsFile },
    lines: [progressOf(run, passedMs), ...stopped],
    errors: [
      ...(rejected === 0 ? [] : [`${counted(rejected, 'line')} without effect: ${errorsFile}`]),
      ...(open === 0 ? [] : [`${counted(open, 'line')} left open: ${OPEN}`]),
    ],
    isDrift: rejected + open > 0 || isStopped,
  };
}

type ImportCounts = Pick<ImportRun, 'read' | 'done' | 'rejected' | 'open' | 'retrying'>;

function keyOf(name: string, field: string | undefined): (params: JsonValue, line: number) => string {
  if (field === undefined) return (_, line) => `${name}:${line}`;
  return (params) => {
    const key = (params as JsonObject)[field];
    // Two numbers that a double cannot distinguish would be one key: the second line would have no effect.
    if ((typeof key !== 'string' || key === '') && !Number.isSafeInteger(key))
      throw Object.assign(
        new Error(`The field ${field} must be a text, or an integer from -(2^53 - 1) to 2^53 - 1`),
        { code: 'KEY' },
      );
    return `${name}:${key}`;
  };
}

/** The file of this run's lines without effect. It does not outlive a run that has none. @throws the system's error */
function rejectedFile(file: string) {
  const stream = createWriteStream(file, { fd: openSync(file, 'w') });
  const written = finished(stream);
  written.catch(() => {});
  return {
    file,
    write: (line: RejectedLine): void => void stream.write(`${JSON.stringify(line)}\n`),
    /** @throws the system's error if lines could not be written */
    close: async (isEmpty: boolean): Promise<void> => {
      stream.end();
      await written;
      if (isEmpty) rmSync(file, { force: true });
    },
  };
}

function progressOf({ read, done, rejected, open, retrying }: ImportCounts, passedMs: number): string {
  const perSecond = Math.round((done + rejected + open) / Math.max(passedMs / SECOND_MS, 0.001));
  const waiting = retrying === 0 ? '' : `, ${retrying} attempted again`;
  const left = open === 0 ? '' : `, ${open} left open`;
  return `${counted(read, 'line')}: ${done} done, ${rejected} without effect${left}${waiting}, ${perSecond} per second`;
}
