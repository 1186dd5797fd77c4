import { dirname, join, relative, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GenerateOptions, type GenerateResult, MANIFEST_NAME } from '../generator/generate.js';
import { relativeTo } from '../generator/schema/paths.js';
import type { CommandContext } from './command.js';
import { EXIT, type ExitCode } from './exit.js';
import { fileText } from './file-text.js';
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
  const { SourceFiles } = await import('../generator/watch.js');
  const projectDirectory = dirname(resolve(flags.config));
  const sources = new SourceFiles(projectDirectory);
  const [warnings, drafts] = [new Set<string>(), new Set<string>()];
  const watcher = new FolderWatcher();
  const configuration = new WatchedConfiguration(flags.config);
  let before: Snapshot | undefined;
  let inputs: readonly string[] = [];
  let last: ExitCode | undefined;
  if (flags.format === 'text' && flags.quiet !== true) {
    context.output.info(`Watching the sources of ${flags.config}. Ctrl+C stops.`);
  }
  try {
    while (!context.signal.aborted) {
      const options = configuration.read();
      const after = look(flags.config, options, inputs);
      watcher.watchOnly([...after.folders, projectDirectory]);
      const changed = changedPaths(before ?? NOTHING, after);
      if (changed.length > 0 || before === undefined) {
        sources.forget(changed.map((path) => relativeTo(projectDirectory, path)));
        // The snapshot from before the run: later changes cause another run, except those of generated files.
        before = after;
        const onResult = (result: GenerateResult): void => {
          // A change of tsconfig.json, or of a package's types, is a change of the sources' meaning.
          inputs = result.inputs
            .filter((path) => /\.(json|[cm]?tsx?)$/.test(path))
            .map((path) => join(projectDirectory, path));
          if (options !== undefined) before = withWritten(after, options, { ...result, inputs });
        };
        const reportsUnchanged = last !== EXIT.success;
        const known = { sources, drafts, options, warnings };
        last = await generateOnce(flags, context, { ...known, onResult, reportsUnchanged });
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
    const text = fileText(this.#file);
    if (this.#loaded === undefined || text === undefined || text !== this.#text) {
      this.#loaded = loadGenerator(this.#file);
      this.#text = text;
    }
    return 'options' in this.#loaded ? this.#loaded.options : undefined;
  }
}

/**
 * A snapshot of sources, templates and output; without a valid configuration, only of the configuration file.
 *
 * @param inputs further files that the last run has read
 */
function look(configFile: string, options: GenerateOptions | undefined, inputs: readonly string[]): Snapshot {
  const config = resolve(configFile);
  if (options === undefined) return takeSnapshot([], [config]);
  const { projectDirectory, outputDirectory, templatesDirectory } = options;
  const folders = [options.sourceDirectory, outputDirectory, options.migrationsDirectory];
  if (templatesDirectory) folders.push(templatesDirectory);
  const inside = folders.filter((folder) => !relative(projectDirectory, folder).startsWith('..'));
  return takeSnapshot(inside, [config, join(outputDirectory, MANIFEST_NAME), ...inputs]);
}

/** A snapshot with the files that a run has written, and those that it was the first to read: neither causes a run. */
function withWritten(
  seen: Snapshot,
  options: GenerateOptions,
  { changes, inputs }: Pick<GenerateResult, 'changes' | 'inputs'>,
): Snapshot {
  const { projectDirectory, outputDirectory } = options;
  const files = new Map(seen.files);
  const written = changes
    .filter(({ kind }) => kind !== 'unchanged')
    .map(({ path }) => join(projectDirectory, path));
  const fresh = inputs.filter((path) => !files.has(path));
  for (const path of [...written, ...fresh, join(outputDirectory, MANIFEST_NAME)]) {
    const state = stateOf(path);
    if (state === undefined) files.delete(path);
    else files.set(path, state);
  }
  return { ...seen, files };
}
