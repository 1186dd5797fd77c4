import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type GenerateOptions, type GenerateResult, MANIFEST_NAME } from '../generator/generate.js';
import { type ResultsKey, RunMemory } from '../generator/watch.js';
import { readResults, rememberRun } from './remember-run.js';
import { CACHE_FOLDER, type Fingerprint, type Recollection, type Settings } from './run-cache.js';
import { StoredTexts } from './stored-texts.js';

/** The run that a cache belongs to. */
export interface CachedRunOptions {
  readonly configFile: string;
  readonly options: GenerateOptions;
  /** Start of the run before it reads anything, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The record of an earlier run. */
  readonly before: Recollection | undefined;
}

/** One run, with the cache of an earlier run. */
export class CachedRun {
  /** Contains the results of files that have not changed since the earlier run. */
  readonly memory: RunMemory;
  readonly #run: CachedRunOptions;
  readonly #before: Recollection | undefined;
  readonly #changed: ReadonlySet<string>;
  readonly #texts: StoredTexts;

  constructor(run: CachedRunOptions) {
    this.#run = run;
    this.#texts = new StoredTexts(this.#folder, run.before?.record.texts);
    const restored = run.before === undefined ? undefined : this.#restore(run.before);
    this.memory = restored ?? new RunMemory();
    this.#before = restored === undefined ? undefined : run.before;
    this.#changed = new Set(this.#before?.changed);
  }

  /** Restores the results that are still valid; undefined if a run without a cache is as fast. */
  #restore({ record, changed, isOutputIntact }: Recollection): RunMemory | undefined {
    const { options } = this.#run;
    const results = readResults(options.outputDirectory);
    const memory = new RunMemory();
    const isKnown =
      results !== undefined && memory.restore(results, resultsKey(record.run, options), this.#texts);
    if (!isKnown) return undefined;
    memory.forget(changed);
    const migrations = `${relative(options.projectDirectory, options.migrationsDirectory)}/`;
    const known = [...memory.read.results.keys()].filter((file) => !file.startsWith(migrations));
    if (memory.read.staleFiles > known.length) return undefined;
    if (isOutputIntact)
      memory.confirmOutputs(this.#emittedFiles(Object.keys(record.outputs)), record.emitted);
    return memory;
  }

  /** Whether the record shows that nothing needs to be done. */
  get isUpToDate(): boolean {
    return this.#before?.isOutputIntact === true && this.#changed.size === 0;
  }

  /** Whether the manifest on disk is the one that a writing run would leave. */
  hasManifest({ manifest }: GenerateResult): boolean {
    if (manifest === undefined) return true;
    const file = join(this.#run.options.outputDirectory, MANIFEST_NAME);
    return existsSync(file) && readFileSync(file, 'utf8') === manifest;
  }

  /** Stores the cache for the next run. */
  remember({ changes, inputs, manifest }: GenerateResult, memory: RunMemory): void {
    const { configFile, options, startedAt } = this.#run;
    const { emitted } = memory;
    if (inputs.length === 0 || emitted === undefined) return;
    const isRead = new Set(inputs);
    const present = changes.filter(({ kind, path }) => kind !== 'remove' && !isRead.has(path));
    const run = randomUUID();
    const isBuiltUpon = memory === this.memory && this.#before !== undefined && !this.#texts.isWorn;
    rememberRun(
      {
        configFile,
        outputDirectory: options.outputDirectory,
        run,
        emitted,
        inputs: [basename(configFile), ...inputs],
        outputs: new Map([
          ...present.map(({ path, text }) => [path, text] as const),
          [this.#manifest, manifest] as const,
        ]),
        hashOf: (path) => memory.read.hashOf(path),
        known: (kind, path) => this.#known(kind, path),
        files: present.length,
        settings: settingsOf(options),
        startedAt,
      },
      {
        texts: isBuiltUpon ? this.#texts : new StoredTexts(this.#folder, undefined),
        print: (texts) => memory.print(resultsKey(run, options), texts),
      },
    );
  }

  /** Returns the fingerprint of a file in the earlier run, if the file had not changed before this run. */
  #known(kind: 'inputs' | 'outputs', path: string): Fingerprint | undefined {
    const isSame = kind === 'inputs' ? !this.#changed.has(path) : this.#before?.isOutputIntact === true;
    return isSame ? this.#before?.record[kind][path] : undefined;
  }

  #emittedFiles(outputs: readonly string[]): readonly string[] {
    const manifest = this.#manifest;
    return outputs.filter((path) => path !== manifest);
  }

  get #folder(): string {
    return join(this.#run.options.outputDirectory, CACHE_FOLDER);
  }

  get #manifest(): string {
    const { configFile, options } = this.#run;
    return join(relative(dirname(resolve(configFile)), options.outputDirectory), MANIFEST_NAME);
  }
}

/** Stored results are valid only for the same folders. */
function resultsKey(run: string, options: GenerateOptions): ResultsKey {
  const { projectDirectory, sourceDirectory, outputDirectory, migrationsDirectory, clientDirectory } =
    options;
  const folders = [sourceDirectory, outputDirectory, migrationsDirectory];
  if (clientDirectory !== undefined) folders.push(clientDirectory);
  return { run, setting: JSON.stringify(folders.map((folder) => relative(projectDirectory, folder))) };
}

/** Converts options to settings of a record. */
function settingsOf(options: GenerateOptions): Settings {
  const { projectDirectory, templatesDirectory, clientDirectory, title, version } = options;
  const below = (folder: string): string => relative(projectDirectory, folder);
  return {
    source: below(options.sourceDirectory),
    output: below(options.outputDirectory),
    migrations: below(options.migrationsDirectory),
    ...(templatesDirectory === undefined ? {} : { templates: below(templatesDirectory) }),
    ...(clientDirectory === undefined ? {} : { client: below(clientDirectory) }),
    ...(title === undefined ? {} : { title }),
    ...(version === undefined ? {} : { version }),
  };
}

/** Converts settings of a record to options. @param folder absolute path of the project */
export function optionsFrom(folder: string, settings: Settings): GenerateOptions {
  const { source, output, migrations, templates, client, title, version } = settings;
  return {
    projectDirectory: folder,
    sourceDirectory: join(folder, source),
    outputDirectory: join(folder, output),
    migrationsDirectory: join(folder, migrations),
    ...(templates === undefined ? {} : { templatesDirectory: join(folder, templates) }),
    ...(client === undefined ? {} : { clientDirectory: join(folder, client) }),
    ...(title === undefined ? {} : { title }),
    ...(version === undefined ? {} : { version }),
  };
}
