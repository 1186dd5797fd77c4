import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Node, Project, type SourceFile, ts } from 'ts-morph';
import type { SourceLocation } from '../schema/location.js';

/** What the parser could not understand. */
export interface ParseError {
  readonly message: string;
  readonly location: SourceLocation;
}

/**
 * The parsed sources of one project, by project-relative path. Files are parsed on demand, never type-checked and
 * never executed. Text is taken with LF line ends and without a byte order mark, so that a checkout with CRLF gives
 * the same output.
 */
export class SourceFiles {
  readonly #projectDirectory: string;
  readonly #loaded = new Map<string, SourceFile | undefined>();
  // Files are handed over as text under a virtual root: no path of this machine can reach the output, and the parser
  // never looks at the disk by itself.
  readonly #project = new Project({
    useInMemoryFileSystem: true,
    skipFileDependencyResolution: true,
    skipLoadingLibFiles: true,
    compilerOptions: { noLib: true, noResolve: true, experimentalDecorators: true },
  });

  readonly #syntaxErrors: ParseError[] = [];

  constructor(projectDirectory: string) {
    this.#projectDirectory = projectDirectory;
  }

  /** The parsed file; undefined if there is none inside the project, or if it does not parse. */
  load(file: string): SourceFile | undefined {
    if (!this.#loaded.has(file)) this.#loaded.set(file, this.#parse(file));
    return this.#loaded.get(file);
  }

  /** The text of a file with LF line ends. @throws if it cannot be read */
  text(file: string): string {
    const text = readFileSync(join(this.#projectDirectory, file), 'utf8');
    return text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  }

  /** The project file that a relative import means, if it exists; otherwise where it would be. */
  resolveImport(from: string, specifier: string): { readonly file: string; readonly exists: boolean } {
    const target = posix.join(posix.dirname(from), specifier);
    const candidates = importCandidates(target);
    const found = candidates.find((candidate) => this.load(candidate) !== undefined);
    return { file: found ?? candidates[0] ?? target, exists: found !== undefined };
  }

  /** Syntax errors of every file that was to be loaded. */
  get syntaxErrors(): readonly ParseError[] {
    return this.#syntaxErrors;
  }

  #parse(file: string): SourceFile | undefined {
    if (file.startsWith('../') || !/\.[cm]?tsx?$/.test(file)) return undefined;
    if (!existsSync(join(this.#projectDirectory, file))) return undefined;
    const source = this.#project.createSourceFile(`/${file}`, this.text(file));
    const errors = syntaxErrorsIn(source);
    this.#syntaxErrors.push(...errors);
    // The tree of a file that does not parse holds nodes of any shape: nobody gets to see it.
    return errors.length === 0 ? source : undefined;
  }
}

/** Where a node starts. */
export function locationOf(node: Node): SourceLocation {
  return positionIn(node.getSourceFile(), node.getStart());
}

/** Project-relative path of the file that a node stands in. */
export function fileOf(node: Node): string {
  return node.getSourceFile().getFilePath().slice(1);
}

function positionIn(source: SourceFile, position: number): SourceLocation {
  const { line, column } = source.getLineAndColumnAtPos(position);
  return { file: fileOf(source), line, column };
}

/** Emitted JavaScript is imported by its own name (`./wallet.js`), its source has another extension. */
function importCandidates(target: string): readonly string[] {
  const sourceName = target.replace(/\.([cm]?)jsx?$/, '.$1ts');
  if (/\.[cm]?tsx?$/.test(sourceName)) return [sourceName, sourceName.replace(/\.ts$/, '.tsx')];
  return [`${target}.ts`, `${target}/index.ts`];
}

interface Findings {
  readonly parseDiagnostics?: readonly ts.DiagnosticWithLocation[];
}

/** The parser's own findings. They are kept on the tree; asking a program for them would build one per file. */
function syntaxErrorsIn(source: SourceFile): readonly ParseError[] {
  const tree: ts.SourceFile & Findings = source.compilerNode;
  return (tree.parseDiagnostics ?? []).map(({ messageText, start }) => ({
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
    location: positionIn(source, start),
  }));
}
