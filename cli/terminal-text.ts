/** A number with its noun: `1 file`, `2 files`. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** A duration for display: `250 ms`, `3.2 s`, `12 min`, `5.0 h`, `3 days`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/**
 * Text from a database for a terminal: shows control characters as escapes, because they could overwrite other text.
 * Keeps line feeds.
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
