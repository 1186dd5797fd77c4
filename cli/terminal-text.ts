/** A number with its noun: `1 file`, `2 files`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * Text of others for a terminal: shows control characters as escapes, because they could overwrite other text or change
 * its direction. Keeps line feeds.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /[^\P{C}\n]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** A complete text on one line. */
export function oneLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, ' ');
}

const LONGEST_CELL = 72;

/** The beginning of a text, for a table cell. */
export function cell(text: string | undefined): string {
  const line = oneLine(text ?? '');
  return line.length <= LONGEST_CELL ? line : `${line.slice(0, LONGEST_CELL - 1)}…`;
}
