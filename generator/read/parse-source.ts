import type { SourceLocation } from '../schema/location.js';
import { ts } from './compiler.js';

/** A syntax error. */
export interface ParseError {
  readonly message: string;
  readonly location: SourceLocation;
}

/** A parsed file. */
export interface ParsedSource {
  /** undefined if the file has syntax errors. Nodes in function bodies have parents only after `linkBodies`. */
  readonly source: ts.SourceFile | undefined;
  readonly errors: readonly ParseError[];
}

interface Findings {
  readonly parseDiagnostics?: readonly ts.DiagnosticWithLocation[];
}

/**
 * Parses a file without its comments and sets the parent of each node, except in function bodies: these are most of a
 * source, and few of them are read.
 */
export function parseSource(file: string, text: string): ParsedSource {
  const source: ts.SourceFile & Findings = ts.createSourceFile(file, text, {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  });
  // The parser stores its errors on the tree. Requesting them from a program would create the program.
  const errors = (source.parseDiagnostics ?? []).map(({ messageText, start }) => ({
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
    location: positionIn(source, start),
  }));
  // After a syntax error, the tree may contain nodes of any form, so it is not returned.
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

/** Sets the parent of each node of a tree, including function bodies. */
export function linkBodies(parent: ts.Node): void {
  ts.forEachChild(parent, (child) => {
    link(child, parent);
    linkBodies(child);
  });
}

function link(child: { parent: ts.Node }, parent: ts.Node): void {
  child.parent = parent;
}

/** Returns line and column of a position in a file. */
export function positionIn(source: ts.SourceFile, position: number): SourceLocation {
  const { line, character } = source.getLineAndCharacterOfPosition(position);
  return { file: source.fileName, line: line + 1, column: character + 1 };
}
