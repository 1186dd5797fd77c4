import { randomUUID } from 'node:crypto';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type GenerateOptions, type GenerateResult, MANIFEST_NAME } from '../generate.js';
import { type ResultsKey, RunMemory } from '../watch.js';
import { type Print, type Recollection, readResults, recollect, rememberRun } from './run-cache.js';

/** Which run a cache is for. */
export interface CachedRunOptions {
  readonly configFile: string;
  readonly options: GenerateOptions;
  /** When the run began, in milliseconds since 1970: before it looked at anything. */
  readonly startedAt: number;
}

/** One run, with what an earlier one left behind on the disk. */
export class CachedRun {
  /** Holds what was read by then from files that have not changed since. */
  readonly memory: RunMemory = new RunMemory();
  readonly #run: CachedRunOptions;
  readonly #before: Recollection | undefined;
  readonly #changed: ReadonlySet<string>;

  constructor(run: CachedRunOptions) {
    this.#run = run;
    const before = recollect(run.configFile);
    const results = before === undefined ? undefined : readResults(run.options.outputDirectory);
    const isKnown =
      before !== undefined &&
      results !== undefined &&
      this.memory.restore(results, resultsKey(before.record.run, run.options));
    this.#before = isKnown ? before : undefined;
    this.#changed = new Set(this.#before?.changed);
    if (this.#before === undefined) return;
    const { record, changed, isOutputIntact } = this.#before;
    this.memory.forget(changed);
    if (isOutputIntact) this.memory.vouchFor(this.#emittedFiles(Object.keys(record.outputs)), record.emitted);
  }

  /** True if the record says that nothing is left to be done. */
  get isUpToDate(): boolean {
    return this.#before?.isOutputIntact === true && this.#changed.size === 0;
  }

  /** Leaves behind what the next run needs to know. */
  remember({ changes, inputs, manifest }: GenerateResult, memory: RunMemory): void {
    const { configFile, options, startedAt } = this.#run;
    const { emitted } = memory;
    if (inputs.length === 0 || emitted === undefined) return;
    const present = changes.filter(({ kind }) => kind !== 'remove');
    const run = randomUUID();
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
        startedAt,
      },
      memory.print(resultsKey(run, options)),
    );
  }

  /** A file as it was for the run before, if it was the same when this one began. */
  #known(kind: 'inputs' | 'outputs', path: string): Print | undefined {
    const isSame = kind === 'inputs' ? !this.#changed.has(path) : this.#before?.isOutputIntact === true;
    return isSame ? this.#before?.record[kind][path] : undefined;
  }

  #emittedFiles(outputs: readonly string[]): readonly string[] {
    return outputs.filter((path) => path !== this.#manifest);
  }

  get #manifest(): string {
    const { configFile, options } = this.#run;
    return join(relative(dirname(resolve(configFile)), options.outputDirectory), MANIFEST_NAME);
  }
}

/** What was read hangs on where it was looked for. */
function resultsKey(run: string, options: GenerateOptions): ResultsKey {
  const { projectDirectory, sourceDirectory, outputDirectory, migrationsDirectory } = options;
  const folders = [sourceDirectory, outputDirectory, migrationsDirectory];
  return { run, setting: JSON.stringify(folders.map((folder) => relative(projectDirectory, folder))) };
}
