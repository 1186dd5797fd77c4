import type { SourceLocation } from '../../generator/schema/location.js';
import { printable } from '../terminal-text.js';

const LINES_AROUND = 2;

/** The lines around a position, with the position marked; '' if the text has no such line. */
export function codeFrame(text: string, { line, column = 1 }: SourceLocation): string {
  const lines = text.split(/\r\n|\r|\n/);
  if (line === undefined || line > lines.length) return '';
  const first = Math.max(1, line - LINES_AROUND);
  const last = Math.min(lines.length, line + LINES_AROUND);
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = first; number <= last; number += 1) {
    const source = shown(lines[number - 1] ?? '');
    const lead = number === line ? '>' : ' ';
    frame.push(`  ${lead} ${String(number).padStart(width)} | ${source}`.trimEnd());
    if (number === line)
      frame.push(`    ${' '.repeat(width)} | ${' '.repeat(caretColumn(lines[line - 1] ?? '', column))}^`);
  }
  return frame.join('\n');
}

function shown(text: string): string {
  return printable(text.replaceAll('\t', '  '));
}

function caretColumn(line: string, column: number): number {
  return shown(line.slice(0, column - 1)).length;
}
