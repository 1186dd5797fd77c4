import type { SourceLocation } from '../schema/location.js';
import { ts } from './compiler.js';

/** What the parser could not understand. */
export interface ParseError {
  readonly message: string;
  readonly location: SourceLocation;
}

/** One file after it was read. */
export interface ParsedSource {
  /** undefined if it does not parse. Bodies of functions are in it, but only `linkBodies` links them. */
  readonly source: ts.SourceFile | undefined;
  readonly errors: readonly ParseError[];
}

interface Findings {
  readonly parseDiagnostics?: readonly ts.DiagnosticWithLocation[];
}

/**
 * Parses a file without its comments and sets the parent of each node, except in function bodies: few of them are read,
 * and they are most of a source.
 */
export function parseSource(file: string, text: string): ParsedSource {
  const source: ts.SourceFile & Findings = ts.createSourceFile(file, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  // The parser keeps its findings on the tree; asking a program for them would build one.
  const errors = (source.parseDiagnostics ?? []).map(({ messageText, start }) => ({
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
    location: positionIn(source, start),
  }));
  // The tree of a file that does not parse may hold nodes of any shape, so it is not returned.
  if (errors.length > 0) return { source: undefined, errors };
  linkDeclarations(source);
  return { source, errors };
}

function linkDeclarations(parent: ts.Node): void {
  ts.forEachChild(parent, (child) => {
    link(child, parent);
    if (!ts.isBlock(child) && !ts.isImportDeclaration(child)) linkDeclarations(child);
  });
}

/** Sets the parent of each node of a tree, in function bodies too. */
export function linkBodies(parent: ts.Node): void {
  ts.forEachChild(parent, (child) => {
    link(child, parent);
    linkBodies(child);
  });
}

function link(child: { parent: ts.Node }, parent: ts.Node): void {
  child.parent = parent;
}

/** The place of a position in a file's text. */
export function positionIn(source: ts.SourceFile, position: number): SourceLocation {
  const { line, character } = source.getLineAndCharacterOfPosition(position);
  return { file: source.fileName, line: line + 1, column: character + 1 };
}
