import { readFileSync } from 'node:fs';
import { plainText } from '../content-hash.js';
import type { SourceLocation } from '../schema/location.js';
import { isSystemError } from '../system-error.js';
import type { ts } from './compiler.js';
import { linkBodies, type ParsedSource, type ParseError, parseSource, positionIn } from './parse-source.js';

/** Requested paths, whether the files exist or not. */
export interface RequestedFiles {
  readonly files: ReadonlySet<string>;
  /** Files whose tree was requested. */
  readonly parsed: ReadonlySet<string>;
}

interface MutableRequests extends RequestedFiles {
  readonly files: Set<string>;
  readonly parsed: Set<string>;
}

function noRequests(): MutableRequests {
  return { files: new Set(), parsed: new Set() };
}

/** Options for keeping sources in memory. */
export interface SourceFilesOptions {
  /**
   * Maximum number of trees in memory. More trees use more memory, but files with many importers are parsed less often.
   */
  readonly treeLimit?: number;
  /** Called with each text read from disk; undefined for a missing file. */
  readonly onText?: (file: string, text: string | undefined) => void;
}

interface LoadedFile extends ParsedSource {
  readonly file: string;
  /** Whether nodes in function bodies have parents. */
  hasBodies: boolean;
}

/**
 * The parsed sources of one project, by project-relative path. Files are parsed on demand, never type-checked and never
 * executed. Texts have LF line ends and no byte order mark, so that a checkout with CRLF results in the same output.
 */
export class SourceFiles {
  readonly #projectDirectory: string;
  readonly #treeLimit: number;
  readonly #onText: SourceFilesOptions['onText'];
  /**
   * Trees, the least recently used first. This is not a map: V8 chains the old tables of a map with many deletions, and
   * an old table would keep all former trees reachable for the scavenger.
   */
  readonly #loaded: LoadedFile[] = [];
  /** Characters of all loaded texts. */
  #loadedLength = 0;
  readonly #matches = new Map<string, boolean>();
  readonly #errors = new Map<string, readonly ParseError[]>();
  /** Candidate files of an import, by its path. */
  readonly #candidates = new Map<string, readonly string[]>();
  #augmenters: ReadonlyMap<string, readonly string[]> = new Map();
  #requested: MutableRequests = noRequests();
  #needsBodies = false;
  /** The last requested file. It is usually parsed next. */
  #lastText: { readonly file: string; readonly text: string } | undefined;

  constructor(projectDirectory: string, options: SourceFilesOptions = {}) {
    this.#projectDirectory = projectDirectory;
    this.#treeLimit = options.treeLimit ?? TREE_LIMIT;
    this.#onText = options.onText;
  }

  /** Returns the parsed file; undefined if it is outside the project, missing, or has syntax errors. */
  load(file: string): ts.SourceFile | undefined {
    if (file.startsWith('../') || !/\.[cm]?tsx?$/.test(file)) return undefined;
    this.#request(file);
    this.#requested.parsed.add(file);
    const loaded = this.#take(file) ?? this.#parse(file);
    if (loaded === undefined) return undefined;
    this.#loaded.push(loaded);
    this.#loadedLength += lengthOf(loaded);
    while (this.#keepsTooMuch()) this.#loadedLength -= lengthOf(this.#loaded.shift());
    if (this.#needsBodies && !loaded.hasBodies) {
      if (loaded.source !== undefined) linkBodies(loaded.source);
      loaded.hasBodies = true;
    }
    return loaded.source;
  }

  #keepsTooMuch(): boolean {
    const { length } = this.#loaded;
    return length > this.#treeLimit || (length > FEWEST_TREES && this.#loadedLength > MOST_TEXT);
  }

  /** Runs `work`, which reads function bodies: in files that it loads, all nodes have parents. */
  withBodies<T>(work: () => T): T {
    const before = this.#needsBodies;
    this.#needsBodies = true;
    try {
      return work();
    } finally {
      this.#needsBodies = before;
    }
  }

  /**
   * Returns the text of a file with LF line ends; undefined if the file does not exist.
   *
   * @throws the error of the file system if the file exists and cannot be read
   */
  text(file: string): string | undefined {
    this.#request(file);
    if (this.#lastText?.file === file) return this.#lastText.text;
    const tree = this.#loaded.find((each) => each.file === file)?.source;
    if (tree !== undefined) return tree.text;
    const text = readText(`${this.#projectDirectory}/${file}`);
    this.#onText?.(file, text);
    if (text !== undefined) this.#lastText = { file, text };
    return text;
  }

  /**
   * Returns the parsed file of a relative import; undefined if there is none. @param path project-relative path in the
   * import
   */
  loadImport(path: string): ts.SourceFile | undefined {
    let candidates = this.#candidates.get(path);
    if (candidates === undefined) {
      candidates = importCandidates(path);
      this.#candidates.set(path, candidates);
    }
    for (const candidate of candidates) {
      const source = this.load(candidate);
      if (source !== undefined) return source;
    }
    return undefined;
  }

  /** Whether a file's text matches. Cached until the file is forgotten. @throws the error of the file system */
  matches(file: string, pattern: RegExp): boolean {
    this.#request(file);
    let found = this.#matches.get(file);
    if (found === undefined) {
      found = pattern.test(this.text(file) ?? '');
      this.#matches.set(file, found);
    }
    return found;
  }

  /** Runs `work`. @returns its result and the paths that it requested */
  trackRequests<T>(work: () => T): { readonly result: T; readonly requested: RequestedFiles } {
    const before = this.#requested;
    this.#requested = noRequests();
    try {
      const result = work();
      return { result, requested: this.#requested };
    } finally {
      const { files, parsed } = this.#requested;
      this.#requested = before;
      this.noteRequests({ files, parsed });
    }
  }

  /** Records files of an earlier run as requested. */
  noteRequests({ files, parsed }: RequestedFiles): void {
    for (const file of files) this.#requested.files.add(file);
    for (const file of parsed) this.#requested.parsed.add(file);
  }

  /** Returns the syntax errors of a parsed file. */
  errorsOf(file: string): readonly ParseError[] {
    return this.#errors.get(file) ?? [];
  }

  /** Forgets the texts of these files, so that the next request reads them again. Other files keep their trees. */
  forget(files: Iterable<string>): void {
    this.#lastText = undefined;
    for (const file of files) {
      this.#take(file);
      this.#errors.delete(file);
      this.#matches.delete(file);
    }
  }

  /** Files that add members to declarations of a file, see `augmentationsIn`. */
  augmentersOf(file: string): readonly string[] {
    return this.#augmenters.get(file) ?? [];
  }

  /** Sets the files that add members to a file, by the file with the declarations. */
  setAugmenters(augmenters: ReadonlyMap<string, readonly string[]>): void {
    this.#augmenters = augmenters;
  }

  /** Records a request. The declarations of a file also depend on the files that add members to it. */
  #request(file: string): void {
    this.#requested.files.add(file);
    if (this.#augmenters.size === 0) return;
    for (const each of this.augmentersOf(file)) this.#requested.files.add(each);
  }

  #parse(file: string): LoadedFile | undefined {
    const text = this.text(file);
    if (text === undefined) return undefined;
    const { source, errors } = parseSource(file, text);
    if (errors.length > 0) this.#errors.set(file, errors);
    return { file, source, errors, hasBodies: false };
  }

  /** Removes a loaded file from the list and returns it. */
  #take(file: string): LoadedFile | undefined {
    const at = this.#loaded.findLastIndex((each) => each.file === file);
    if (at < 0) return undefined;
    const [found] = this.#loaded.splice(at, 1);
    this.#loadedLength -= lengthOf(found);
    return found;
  }
}

/** Returns the start of a node. */
export function locationOf(node: ts.Node): SourceLocation {
  const source = node.getSourceFile();
  return positionIn(source, node.getStart(source));
}

/** Returns the project-relative path of the file that contains a node. */
export function fileOf(node: ts.Node): string {
  return node.getSourceFile().fileName;
}

/** Trees are large, and files that refer to each other are read in succession. */
const TREE_LIMIT = 16;
/** Maximum characters of all loaded texts. A tree takes some hundred bytes for each. */
const MOST_TEXT = 60_000;
/** Trees that stay loaded regardless of their size: a file and a file that it imports. */
const FEWEST_TREES = 2;

function lengthOf(loaded: LoadedFile | undefined): number {
  return loaded?.source?.text.length ?? 0;
}

/** Shared, because Node.js would allocate these options from 'utf8' for each file. */
const AS_TEXT = { encoding: 'utf8', flag: 'r' } as const;

function readText(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, AS_TEXT);
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
    throw error;
  }
  return plainText(text);
}

/**
 * Returns the possible sources of an import. An import has the name of the emitted JavaScript (`./wallet.js`), its
 * source another extension.
 */
function importCandidates(target: string): readonly string[] {
  if (target.endsWith('.js')) {
    const name = target.slice(0, -'js'.length);
    return [`${name}ts`, `${name}tsx`, `${name}d.ts`];
  }
  const sourceName = target.replace(/\.([cm]?)jsx?$/, '.$1ts');
  if (/\.[cm]?tsx?$/.test(sourceName)) return [sourceName, sourceName.replace(/\.ts$/, '.tsx')];
  return [`${target}.ts`, `${target}/index.ts`];
}
