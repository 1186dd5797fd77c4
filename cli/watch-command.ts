import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GenerateOptions, type GenerateResult, MANIFEST_NAME } from '../generator/generate.js';
import { relativeTo } from '../generator/schema/paths.js';
import type { RunMemory } from '../generator/watch.js';
import type { CommandContext } from './command-context.js';
import { EXIT, type ExitCode } from './exit.js';
import { FolderWatcher } from './folder-watcher.js';
import type { GenerateFlags } from './generate-flags.js';
import { generateOnce } from './generate-run.js';
import { type LoadedGenerator, loadGenerator } from './load-generator.js';
import { changedPaths, type Snapshot, stateOf, takeSnapshot } from './snapshot.js';

/**
 * Generates after each change, until the signal is aborted. While there are mistakes, it reports them and waits for a
 * correction. The first run and the one that finds a mistake corrected are reported even if they change no file.
 *
 * @param afterRun awaited after each run; changes meanwhile cause the next run
 */
export async function watchCommand(
  flags: GenerateFlags,
  context: CommandContext,
  afterRun?: (code: ExitCode) => Promise<void>,
): Promise<ExitCode> {
  const { RunMemory } = await import('../generator/watch.js');
  const projectDirectory = dirname(resolve(flags.config));
  const memory = new RunMemory();
  const watcher = new FolderWatcher();
  const configuration = new WatchedConfiguration(flags.config);
  let before: Snapshot | undefined;
  let last: ExitCode | undefined;
  if (flags.format === 'text' && flags.quiet !== true) {
    context.output.info(`Watching the sources of ${flags.config}. Ctrl+C stops.`);
  }
  try {
    while (!context.signal.aborted) {
      const options = configuration.read();
      const after = look(flags.config, options);
      watcher.watchOnly([...after.folders, projectDirectory]);
      const changed = changedPaths(before ?? NOTHING, after);
      if (changed.length > 0 || before === undefined) {
        memory.forget(changed.map((path) => relativeTo(projectDirectory, path)));
        if (options === undefined || changed.some((path) => isBelow(options.outputDirectory, path)))
          memory.invalidateOutputs();
        // The snapshot from before the run: later changes cause another run, except those of generated files.
        before = after;
        const onResult = (result: GenerateResult): void => {
          if (options !== undefined) before = asWritten(after, options, result, memory);
        };
        const reportsUnchanged = last !== EXIT.success;
        last = await generateOnce(flags, context, { memory, options, onResult, reportsUnchanged });
        // A run never waits for I/O: without a turn of the event loop, signals would not be handled until changes end.
        await nextTurn();
        await afterRun?.(last);
        continue;
      }
      await watcher.nextChange(context.signal);
    }
  } finally {
    watcher.close();
  }
  return EXIT.success;
}

const NOTHING: Snapshot = { files: new Map(), folders: [] };

/** The configuration, parsed again only when its text has changed: parsing takes longer than most runs. */
class WatchedConfiguration {
  readonly #file: string;
  #text: string | undefined;
  #loaded: LoadedGenerator | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** The configuration; undefined while it has a mistake. */
  read(): GenerateOptions | undefined {
    const text = textOf(this.#file);
    if (this.#loaded === undefined || text === undefined || text !== this.#text) {
      this.#loaded = loadGenerator(this.#file);
      this.#text = text;
    }
    return 'options' in this.#loaded ? this.#loaded.options : undefined;
  }
}

/** A snapshot of sources, templates and output; without a valid configuration, only of the configuration file. */
function look(configFile: string, options: GenerateOptions | undefined): Snapshot {
  const config = resolve(configFile);
  if (options === undefined) return takeSnapshot([], [config]);
  const { projectDirectory, sourceDirectory, outputDirectory, migrationsDirectory, templatesDirectory } =
    options;
  const folders = [
    sourceDirectory,
    outputDirectory,
    migrationsDirectory,
    ...(templatesDirectory ? [templatesDirectory] : []),
  ];
  const inside = folders.filter((folder) => !relative(projectDirectory, folder).startsWith('..'));
  return takeSnapshot(inside, [config, join(outputDirectory, MANIFEST_NAME)]);
}

/**
 * A snapshot with the generated files as the run wrote them, if they are unchanged. If all are, the output is known to
 * be current.
 */
function asWritten(
  seen: Snapshot,
  { projectDirectory, outputDirectory }: GenerateOptions,
  { changes, diagnostics, manifest }: GenerateResult,
  memory: RunMemory,
): Snapshot {
  const { emitted } = memory;
  if (diagnostics.length > 0 || emitted === undefined) return seen;
  const files = new Map(seen.files);
  const confirm = (path: string, text: string | undefined): boolean => {
    // In this order, the state is never newer than the text that is read.
    const state = stateOf(path);
    if (textOf(path) !== text) return false;
    if (state === undefined) files.delete(path);
    else files.set(path, state);
    return true;
  };
  const written = changes
    .filter(({ kind }) => kind !== 'unchanged')
    .map(({ path, text }) => [join(projectDirectory, path), text] as const)
    .filter(([path]) => isBelow(outputDirectory, path));
  if (manifest !== undefined) written.push([join(outputDirectory, MANIFEST_NAME), manifest]);
  const isRight = written.map(([path, text]) => confirm(path, text)).every((each) => each);
  const present = changes.filter(({ kind }) => kind !== 'remove').map(({ path }) => path);
  if (isRight) memory.confirmOutputs(present, emitted);
  return { ...seen, files };
}

function isBelow(folder: string, path: string): boolean {
  return path.startsWith(folder + sep);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
