import { dirname, join, relative, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type GenerateOptions, type GenerateResult, MANIFEST_NAME } from '../generator/generate.js';
import { relativeTo } from '../generator/schema/paths.js';
import type { CommandContext } from './command.js';
import { EXIT, type ExitCode } from './exit.js';
import { failureCode } from './failures.js';
import { fileText } from './file-text.js';
import { type GenerateFlags, generateOnce } from './generate-run.js';
import { type LoadedOptions, loadOptions } from './project.js';
import { WatchedFiles } from './watched-files.js';

/**
 * Generates after each change, until the signal is aborted. After mistakes, and after a failure of this program, it
 * waits for the next change. The first run and the one that finds a mistake corrected are reported even if they change
 * no file.
 *
 * @param afterRun awaited after each run; changes meanwhile cause the next run
 */
export async function watchCommand(
  flags: GenerateFlags,
  { output, version, signal }: CommandContext,
  afterRun?: (code: ExitCode) => Promise<void>,
): Promise<ExitCode> {
  const { SourceFiles } = await import('../generator/watch.js');
  const config = resolve(flags.config);
  const projectDirectory = dirname(config);
  let sources = new SourceFiles(projectDirectory);
  const known = { warnings: new Set<string>(), drafts: new Set<string>() };
  const readOptions = optionsReader(flags.config);
  const watched = new WatchedFiles();
  let inputs: readonly string[] = [];
  let last: ExitCode | undefined;
  if (flags.format === 'text' && flags.quiet !== true)
    output.info(`Watching the sources of ${flags.config}. Ctrl+C stops.`);
  try {
    while (!signal.aborted) {
      const loaded = readOptions();
      const options = 'options' in loaded ? loaded.options : undefined;
      const [folders, files] = options === undefined ? [[], []] : placesOf(options);
      const changed = watched.changes(folders, [config, ...files, ...inputs], [projectDirectory]);
      if (changed.length === 0 && last !== undefined) {
        await watched.next(signal);
        continue;
      }
      sources.forget(changed.map((path) => relativeTo(projectDirectory, path)));
      // Later changes cause another run, except those of the files that this run writes, and of those beside the
      // folders that it is the first to read. A source that is new since the scan may have been read unfinished.
      const onResult = (result: GenerateResult): void => {
        const inProject = (path: string): string => join(projectDirectory, path);
        // A change of tsconfig.json, or of a package's types, is a change of the sources' meaning.
        inputs = result.inputs.filter((path) => /\.(json|[cm]?tsx?)$/.test(path)).map(inProject);
        const written = result.changes.filter(({ kind }) => kind !== 'unchanged');
        const fresh = inputs.filter((path) => !watched.has(path));
        watched.accept([...written.map(({ path }) => inProject(path)), ...fresh, ...files]);
      };
      const reportsUnchanged = last !== EXIT.success;
      const context = { output, version };
      try {
        last = await generateOnce(flags, context, { ...known, sources, loaded, onResult, reportsUnchanged });
      } catch (error) {
        // The next change may avoid it.
        last = failureCode(error, output);
        sources = new SourceFiles(projectDirectory);
      }
      // A run never waits for I/O: without a turn of the event loop, signals would not be handled until changes end.
      await nextTurn();
      await afterRun?.(last);
    }
  } finally {
    watched.close();
  }
  return EXIT.success;
}

/** Reads the configuration, and parses it only when its text has changed: parsing takes longer than most runs. */
function optionsReader(file: string): () => LoadedOptions {
  let known: { readonly text: string | undefined; readonly loaded: LoadedOptions } | undefined;
  return () => {
    const text = fileText(file);
    if (text === undefined || text !== known?.text) known = { text, loaded: loadOptions(file) };
    return known.loaded;
  };
}

/** The folders of sources, templates and output, and the manifest. */
function placesOf(options: GenerateOptions): readonly [folders: readonly string[], files: readonly string[]] {
  const { projectDirectory, sourceDirectory, outputDirectory, migrationsDirectory } = options;
  const folders = [sourceDirectory, outputDirectory, migrationsDirectory, options.templatesDirectory ?? []];
  const inside = folders.flat().filter((folder) => !relative(projectDirectory, folder).startsWith('..'));
  return [inside, [join(outputDirectory, MANIFEST_NAME)]];
}
