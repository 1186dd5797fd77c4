import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatLocation } from '../generator/diagnostics.js';
import { generate, type TracedText } from '../generator/generate.js';
import type { SourceLocation } from '../generator/schema/location.js';
import { relativeTo } from '../generator/schema/paths.js';
import { CONFIG, type CommandEntry, command, required } from './command.js';
import { explainCode, isCode } from './explain-code.js';
import { InputError } from './input-error.js';
import { generateOptions, readProjectConfig, requireNone } from './project.js';
import { codeFrame } from './report/code-frame.js';

/** `fw-gen explain` */
export const EXPLAIN: CommandEntry = command({
  name: 'explain',
  about: 'Maps emitted code to the declaration it comes from, and back. Prints the page of an error code.',
  examples: [
    ['fw-gen explain src/generated/wallet.ts:42', 'the declaration that this line comes from'],
    ['fw-gen explain src/models/wallet.ts:12', 'the lines emitted for this field'],
    ['fw-gen explain src/actions/transfer.ts', 'also shows which shards the action touches'],
    ['fw-gen explain FWGEN048', 'explains a diagnostic and how to fix it'],
    ['fw-gen explain FW_SHARD_BUSY', 'explains a runtime error'],
  ],
  inputs: { ...CONFIG, place: required('<file[:line]|code>', '') },
  run: async ({ place, config }) => ({
    lines: isCode(place) ? [explainCode(place)] : await explain(place, config),
  }),
});

interface Place {
  /** Project-relative. */
  readonly file: string;
  readonly line: number | undefined;
}

async function explain(text: string, configFile: string): Promise<readonly string[]> {
  const options = generateOptions(readProjectConfig(configFile));
  const { projectDirectory } = options;
  const place = parsePlace(text, projectDirectory);
  requireLine(place, projectDirectory);
  const result = await generate({ ...options, dryRun: true, force: true });
  requireNone(result.diagnostics);
  const trace = result.trace();
  const traced = trace.get(place.file);
  const origins =
    traced === undefined ? explainSource(place, trace) : explainEmitted(place, traced, projectDirectory);
  const shards = result.shardVerdicts().filter(({ location }) => location.file === place.file);
  const lines = [
    ...origins,
    ...shards.map(({ action, verdict, message }) => `${action} touches one shard: ${verdict}. ${message}`),
  ];
  return lines.length > 0 ? lines : [whyNothing(place, trace)];
}

function whyNothing({ file, line }: Place, trace: ReadonlyMap<string, TracedText>): string {
  const isAbove = line !== undefined && explainSource({ file, line: undefined }, trace).length > 0;
  return isAbove
    ? `${file}:${line} has no emitted code: it is above every marked declaration.`
    : `${file} has no emitted code: it has no marked declaration.`;
}

/** @throws InputError for a line that the file does not have */
function requireLine({ file, line }: Place, projectDirectory: string): void {
  if (line === undefined) return;
  const lines = readFileSync(join(projectDirectory, file), 'utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (line < 1 || line > lines.length) throw new InputError(`${file} has no line ${line}`);
}

function parsePlace(text: string, projectDirectory: string): Place {
  const [, name = text, digits] = /^(.*?)(?::(\d+))?(?::\d+)?$/.exec(text) ?? [];
  const candidates = [resolve(name), resolve(projectDirectory, name)];
  const absolute = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  if (absolute === undefined) throw new InputError(`There is no file ${name}`);
  const file = relativeTo(projectDirectory, absolute);
  return { file, line: digits === undefined ? undefined : Number(digits) };
}

function explainEmitted(
  { file, line }: Place,
  { text, origins }: TracedText,
  projectDirectory: string,
): readonly string[] {
  if (line === undefined) {
    const sources = new Set(origins.flatMap((origin) => (origin === undefined ? [] : [origin.file])));
    if (sources.size === 0) return [`${file} comes from the project as a whole`];
    return [`${file} comes from`, ...[...sources].sort().map((source) => `  ${source}`)];
  }
  const emitted = text.split('\n')[line - 1];
  if (emitted === undefined) throw new InputError(`${file} has no line ${line}`);
  const origin = origins[line - 1];
  if (origin === undefined)
    return [`${file}:${line} comes from the project as a whole, not from a single declaration`];
  const source = readFileSync(join(projectDirectory, origin.file), 'utf8');
  return [`${file}:${line} comes from ${formatLocation(origin)}`, codeFrame(source, origin)];
}

function explainSource({ file, line }: Place, trace: ReadonlyMap<string, TracedText>): readonly string[] {
  const wanted = line === undefined ? undefined : declarationAt(file, line, trace);
  const isWanted = (origin: SourceLocation | undefined): boolean =>
    origin?.file === file && (line === undefined || origin.line === wanted);
  return [...trace].flatMap(([path, { origins }]) => {
    const ranges = rangesOf(origins.flatMap((origin, index) => (isWanted(origin) ? [index + 1] : [])));
    return ranges.length === 0
      ? []
      : [`${file}${wanted === undefined ? '' : `:${wanted}`} is emitted to ${path}:${ranges.join(', ')}`];
  });
}

/** Line of the last declaration at or above a line that causes output. */
function declarationAt(
  file: string,
  line: number,
  trace: ReadonlyMap<string, TracedText>,
): number | undefined {
  let found: number | undefined;
  for (const { origins } of trace.values()) {
    for (const origin of origins) {
      if (origin?.file !== file || origin.line === undefined || origin.line > line) continue;
      found = Math.max(found ?? 0, origin.line);
    }
  }
  return found;
}

/** `[1, 2, 3, 7]` -> `1-3`, `7` */
function rangesOf(lines: readonly number[]): readonly string[] {
  const ranges: { first: number; last: number }[] = [];
  for (const line of lines) {
    const open = ranges.at(-1);
    if (open !== undefined && line === open.last + 1) open.last = line;
    else ranges.push({ first: line, last: line });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
}
