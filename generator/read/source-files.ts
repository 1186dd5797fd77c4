import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { plainText } from '../content-hash.js';
import { type Diagnostic, diagnostic } from '../diagnostics.js';
import type { SourceLocation } from '../schema/location.js';
import { isSystemError } from '../system-error.js';
import { ts } from './compiler.js';

/**
 * The sources of one project, by project-relative path. They are parsed on demand and never executed. Texts have LF line
 * ends and no byte order mark, so that a checkout with CRLF results in the same output.
 */
export class SourceFiles {
  /** Absolute path. */
  readonly projectDirectory: string;
  /** Texts of requested files; undefined for a missing file. */
  readonly #texts = new Map<string, string | undefined>();
  readonly #trees = new Map<string, ts.SourceFile>();
  readonly #errors = new Map<string, readonly Diagnostic[]>();

  constructor(projectDirectory: string) {
    // Without a slash at its end: paths of files are compared as texts.
    this.projectDirectory = resolve(projectDirectory);
  }

  /** Returns the parsed file; undefined if it is missing or has syntax errors. */
  load(file: string): ts.SourceFile | undefined {
    if (!/\.[cm]?tsx?$/.test(file)) return undefined;
    const known = this.#trees.get(file);
    if (known !== undefined || this.#errors.has(file)) return known;
    const text = this.text(file);
    if (text === undefined) return undefined;
    // Comments are parsed by `readDoc`, because most declarations have none or a plain one.
    const format = { languageVersion: LATEST, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
    const source: ts.SourceFile & Parsed = ts.createSourceFile(file, text, format, true);
    // The parser stores its errors on the tree. Requesting them from a program would create the program.
    const errors = (source.parseDiagnostics ?? []).map((each) => syntaxDiagnostic(source, each));
    if (errors.length > 0) {
      // The tree may contain nodes of any form, so it is not returned.
      this.#errors.set(file, errors);
      return undefined;
    }
    this.#trees.set(file, source);
    return source;
  }

  /**
   * Returns the text of a file with LF line ends; undefined if the file does not exist.
   *
   * @throws the error of the file system if the file exists and cannot be read
   */
  text(file: string): string | undefined {
    if (!this.#texts.has(file)) this.#texts.set(file, readText(`${this.projectDirectory}/${file}`));
    return this.#texts.get(file);
  }

  /**
   * Returns the parsed file of a relative import; undefined if there is none. @param path project-relative path in the
   * import
   */
  loadImport(path: string): ts.SourceFile | undefined {
    for (const candidate of importCandidates(path)) {
      const source = this.load(candidate);
      if (source !== undefined) return source;
    }
    return undefined;
  }

  /** Files that were requested, whether they exist or not. */
  get requested(): Iterable<string> {
    return this.#texts.keys();
  }

  /** Syntax errors of all files that were parsed. */
  get syntaxErrors(): readonly Diagnostic[] {
    return [...this.#errors.values()].flat();
  }

  /** Forgets these files, so that the next request reads them again. */
  forget(files: Iterable<string>): void {
    // A file with syntax errors may no longer be requested.
    for (const file of [...files, ...this.#errors.keys()]) {
      this.#texts.delete(file);
      this.#trees.delete(file);
      this.#errors.delete(file);
    }
  }
}

const LATEST = ts.ScriptTarget.Latest;

interface Parsed {
  readonly parseDiagnostics?: readonly ts.DiagnosticWithLocation[];
}

function syntaxDiagnostic(
  source: ts.SourceFile,
  { messageText, start }: ts.DiagnosticWithLocation,
): Diagnostic {
  const message = ts.flattenDiagnosticMessageText(messageText, ' ');
  return diagnostic('FWGEN001', positionIn(source, start), message, 'Fix the syntax error.');
}

/** Returns line and column of a position in a file. */
export function positionIn(source: ts.SourceFile, position: number): SourceLocation {
  const { line, character } = source.getLineAndCharacterOfPosition(position);
  return { file: fileOf(source), line: line + 1, column: character + 1 };
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

function readText(path: string): string | undefined {
  try {
    return plainText(readFileSync(path, 'utf8'));
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
    throw error;
  }
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
