import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { plainText } from '../content-hash.js';
import type { SourceLocation } from '../schema/location.js';
import { isSystemError } from '../system-error.js';
import { ts } from './compiler.js';

/** What the parser could not understand. */
export interface ParseError {
  readonly message: string;
  readonly location: SourceLocation;
}

/** Paths that were asked for, whether there are such files or not. */
export interface Asked {
  readonly files: ReadonlySet<string>;
  /** Those whose tree was wanted. */
  readonly parsed: ReadonlySet<string>;
}

interface MutableAsked extends Asked {
  readonly files: Set<string>;
  readonly parsed: Set<string>;
}

function nothingAsked(): MutableAsked {
  return { files: new Set(), parsed: new Set() };
}

/** How sources are kept. */
export interface SourceFilesOptions {
  /** Most trees to be kept: more memory saves parsing a file again that many others import. */
  readonly treeLimit?: number;
  /** Told each text that is read from the disk; undefined for a file that is not there. */
  readonly onText?: (file: string, text: string | undefined) => void;
}

/** One file after a look at it. */
interface LoadedFile {
  /** undefined if it does not parse. */
  readonly source: ts.SourceFile | undefined;
  readonly errors: readonly ParseError[];
}

/**
 * The parsed sources of one project, by project-relative path. Files are parsed on demand, never type-checked and
 * never executed. Text is taken with LF line ends and without a byte order mark, so that a checkout with CRLF gives
 * the same output.
 */
export class SourceFiles {
  readonly #projectDirectory: string;
  readonly #treeLimit: number;
  readonly #onText: SourceFilesOptions['onText'];
  /** Trees, the longest unused first. */
  readonly #loaded = new Map<string, LoadedFile>();
  readonly #matches = new Map<string, boolean>();
  readonly #errors = new Map<string, readonly ParseError[]>();
  #asked: MutableAsked = nothingAsked();
  /** The file that was asked for last, which is the one that is parsed next. */
  #lastText: { readonly file: string; readonly text: string } | undefined;

  constructor(projectDirectory: string, options: SourceFilesOptions = {}) {
    this.#projectDirectory = projectDirectory;
    this.#treeLimit = options.treeLimit ?? TREE_LIMIT;
    this.#onText = options.onText;
  }

  /** The parsed file; undefined if there is none inside the project, or if it does not parse. */
  load(file: string): ts.SourceFile | undefined {
    if (file.startsWith('../') || !/\.[cm]?tsx?$/.test(file)) return undefined;
    this.#asked.files.add(file);
    this.#asked.parsed.add(file);
    const known = this.#loaded.get(file);
    const loaded = known ?? this.#parse(file);
    if (loaded === undefined) return undefined;
    if (known !== undefined) this.#loaded.delete(file);
    this.#loaded.set(file, loaded);
    if (this.#loaded.size > this.#treeLimit) this.#dropOldest();
    return loaded.source;
  }

  /**
   * The text of a file with LF line ends; undefined if there is none.
   *
   * @throws the error of the file system if it is there and cannot be read
   */
  text(file: string): string | undefined {
    this.#asked.files.add(file);
    if (this.#lastText?.file === file) return this.#lastText.text;
    const tree = this.#loaded.get(file)?.source;
    if (tree !== undefined) return tree.text;
    const text = readText(join(this.#projectDirectory, file));
    this.#onText?.(file, text);
    if (text !== undefined) this.#lastText = { file, text };
    return text;
  }

  /** The project file that a relative import means, if it exists; otherwise where it would be. */
  resolveImport(from: string, specifier: string): { readonly file: string; readonly exists: boolean } {
    const target = importTarget(from, specifier);
    const candidates = importCandidates(target);
    const found = candidates.find((candidate) => this.load(candidate) !== undefined);
    return { file: found ?? candidates[0] ?? target, exists: found !== undefined };
  }

  /** Whether a file's text matches; remembered until the file is forgotten. @throws the error of the file system */
  matches(file: string, pattern: RegExp): boolean {
    this.#asked.files.add(file);
    let found = this.#matches.get(file);
    if (found === undefined) {
      found = pattern.test(this.text(file) ?? '');
      this.#matches.set(file, found);
    }
    return found;
  }

  /** Runs `work`. @returns what it gave and what it asked for */
  asking<T>(work: () => T): { readonly given: T; readonly asked: Asked } {
    const before = this.#asked;
    this.#asked = nothingAsked();
    try {
      const given = work();
      return { given, asked: this.#asked };
    } finally {
      const { files, parsed } = this.#asked;
      this.#asked = before;
      this.noteAsked({ files, parsed });
    }
  }

  /** Counts files as asked for that somebody asked for earlier in this one's place. */
  noteAsked({ files, parsed }: Asked): void {
    for (const file of files) this.#asked.files.add(file);
    for (const file of parsed) this.#asked.parsed.add(file);
  }

  /** Syntax errors of a file that was parsed. */
  errorsOf(file: string): readonly ParseError[] {
    return this.#errors.get(file) ?? [];
  }

  /** Forgets what these files held, so that the next look reads them again. Others keep their trees. */
  forget(files: Iterable<string>): void {
    this.#lastText = undefined;
    for (const file of files) {
      this.#loaded.delete(file);
      this.#errors.delete(file);
      this.#matches.delete(file);
    }
  }

  #parse(file: string): LoadedFile | undefined {
    const text = this.text(file);
    if (text === undefined) return undefined;
    const loaded = parse(file, text);
    if (loaded.errors.length > 0) this.#errors.set(file, loaded.errors);
    return loaded;
  }

  #dropOldest(): void {
    for (const file of this.#loaded.keys()) {
      this.#loaded.delete(file);
      return;
    }
  }
}

/** The path that a relative import spells, with its extension as written. */
export function importTarget(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier);
}

/** Where a node starts. */
export function locationOf(node: ts.Node): SourceLocation {
  return positionIn(node.getSourceFile(), node.getStart());
}

/** Project-relative path of the file that a node stands in. */
export function fileOf(node: ts.Node): string {
  return node.getSourceFile().fileName;
}

/** Trees are large, and files that speak of each other are read one after the other. */
const TREE_LIMIT = 16;

function readText(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
    throw error;
  }
  return plainText(text);
}

interface Findings {
  readonly parseDiagnostics?: readonly ts.DiagnosticWithLocation[];
}

function parse(file: string, text: string): LoadedFile {
  const source: ts.SourceFile & Findings = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  // The parser keeps its findings on the tree; asking a program for them would build one.
  const errors = (source.parseDiagnostics ?? []).map(({ messageText, start }) => ({
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
    location: positionIn(source, start),
  }));
  // The tree of a file that does not parse holds nodes of any shape: nobody gets to see it.
  return { source: errors.length === 0 ? source : undefined, errors };
}

function positionIn(source: ts.SourceFile, position: number): SourceLocation {
  const { line, character } = source.getLineAndCharacterOfPosition(position);
  return { file: source.fileName, line: line + 1, column: character + 1 };
}

/** Emitted JavaScript is imported by its own name (`./wallet.js`), its source has another extension. */
function importCandidates(target: string): readonly string[] {
  const sourceName = target.replace(/\.([cm]?)jsx?$/, '.$1ts');
  if (/\.[cm]?tsx?$/.test(sourceName)) return [sourceName, sourceName.replace(/\.ts$/, '.tsx')];
  return [`${target}.ts`, `${target}/index.ts`];
}
