/** A stretch of time for people: `250 ms`, `3.2 s`, `12 min`, `5.0 h`, `3 days`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/**
 * Text from a database on a terminal: control characters, with which it might paint over what stands there, are shown
 * as escapes. Line feeds stay.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /[^\P{C}\n]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The whole of a text on one line. */
export function oneLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, ' ');
}

const LONGEST_CELL = 72;

/** The beginning of a text as one cell of a table. */
export function cell(text: string | undefined): string {
  const line = oneLine(text ?? '');
  return line.length <= LONGEST_CELL ? line : `${line.slice(0, LONGEST_CELL - 1)}…`;
}
