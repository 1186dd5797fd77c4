/** One hunk of a difference. Line numbers count from 1. */
export interface Hunk {
  readonly beforeStart: number;
  readonly afterStart: number;
  /** Lines with their mark: ' ', '-' or '+'. */
  readonly lines: readonly string[];
}

const CONTEXT = 3;
/** Maximum cells of the table that finds common lines. A larger block counts as replaced completely. */
const MAXIMUM_CELLS = 4_000_000;

/** The differences between two texts, in the format of `diff -u`. */
export function hunksOf(before: string, after: string): readonly Hunk[] {
  const edits = editsOf(linesOf(before), linesOf(after));
  const hunks: Hunk[] = [];
  let beforeLine = 1;
  let afterLine = 1;
  let open: { beforeStart: number; afterStart: number; lines: string[]; quiet: number } | undefined;
  const recent: string[] = [];
  for (const edit of edits) {
    if (edit[0] === ' ') {
      recent.push(edit);
      if (recent.length > CONTEXT) recent.shift();
      if (open !== undefined) {
        open.lines.push(edit);
        open.quiet += 1;
        if (open.quiet > CONTEXT * 2) {
          hunks.push(closed(open));
          open = undefined;
        }
      }
    } else {
      open ??= {
        beforeStart: beforeLine - recent.length,
        afterStart: afterLine - recent.length,
        lines: [...recent],
        quiet: 0,
      };
      open.lines.push(edit);
      open.quiet = 0;
      recent.length = 0;
    }
    if (edit[0] !== '+') beforeLine += 1;
    if (edit[0] !== '-') afterLine += 1;
  }
  if (open !== undefined) hunks.push(closed(open));
  return hunks;
}

/** A whole file's difference with its heading. */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string {
  const head = [
    `--- ${before === undefined ? '/dev/null' : `a/${path}`}`,
    `+++ ${after === undefined ? '/dev/null' : `b/${path}`}`,
  ];
  const body = hunksOf(before ?? '', after ?? '').flatMap((hunk) => [
    `@@ -${range(hunk.beforeStart, hunk.lines, '+')} +${range(hunk.afterStart, hunk.lines, '-')} @@`,
    ...hunk.lines,
  ]);
  return [...head, ...body].join('\n');
}

function closed(open: { beforeStart: number; afterStart: number; lines: string[]; quiet: number }): Hunk {
  const end = open.lines.length - Math.max(0, open.quiet - CONTEXT);
  return { beforeStart: open.beforeStart, afterStart: open.afterStart, lines: open.lines.slice(0, end) };
}

function range(start: number, lines: readonly string[], otherSide: '+' | '-'): string {
  const count = lines.filter((line) => line[0] !== otherSide).length;
  return `${count === 0 ? start - 1 : start},${count}`;
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function editsOf(before: readonly string[], after: readonly string[]): readonly string[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  const same = (line: string): string => ` ${line}`;
  return [
    ...before.slice(0, start).map(same),
    ...middleEdits(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

function middleEdits(before: readonly string[], after: readonly string[]): readonly string[] {
  const columns = after.length + 1;
  if (before.length * columns > MAXIMUM_CELLS) {
    return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  }
  const common = new Uint32Array((before.length + 1) * columns);
  const at = (row: number, column: number): number => common[row * columns + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      common[row * columns + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const edits: string[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const left = before[row];
    const right = after[column];
    if (left !== undefined && left === right) {
      edits.push(` ${left}`);
      row += 1;
      column += 1;
    } else if (right === undefined || (left !== undefined && at(row + 1, column) >= at(row, column + 1))) {
      edits.push(`-${left}`);
      row += 1;
    } else {
      edits.push(`+${right}`);
      column += 1;
    }
  }
  return edits;
}
