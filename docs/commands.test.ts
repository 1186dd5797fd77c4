import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CommandEntry, type Input, PARALLEL } from '../cli/command.js';
import { COMMANDS } from '../cli/commands.js';
import { FRAME } from '../cli/operate/operator-command.js';
import { ROOT } from './pages.js';

const PAGE = join(ROOT, 'docs/commands.md');
const HEAD = `# Commands

Every command of \`fw-gen\` with its arguments and options. \`fw-gen <command> --help\` prints the same. A command exits with 0,
with 1 if the state is not as expected, with 2 if its input is wrong, and with 3 after a bug of \`fw-gen\`.
[fw-gen.md](fw-gen.md) explains \`generate\`, \`init\` and \`explain\`.

Options that many commands have:
`;
const SHARED: readonly Input<unknown>[] = Object.values({ ...FRAME, ...PARALLEL });

/** `UPDATE_GOLDEN=1` writes the page. */
test('the page of commands is made from the table of commands', () => {
  const page = [HEAD, `${optionTable(SHARED)}\n`, ...COMMANDS.map((entry) => sectionOf(entry, [], 2))].join(
    '\n',
  );
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});

function sectionOf(
  { name, about, inputs = {}, examples = [], commands = [] }: CommandEntry,
  above: readonly string[],
  depth: number,
): string {
  const path = [...above, name];
  const given = Object.values(inputs);
  const shared = given.filter((each) => SHARED.includes(each)).map(({ flags }) => `[${flags}]`);
  const own = given.filter((each) => !SHARED.includes(each));
  const words = own.filter(({ flags }) => !flags.startsWith('-')).map(({ flags }) => flags);
  const lines = examples.map(([line, effect]) => (effect === '' ? line : `${line}  # ${effect}`));
  return [
    `${'#'.repeat(depth)} ${path.join(' ')}`,
    about,
    commands.length > 0 ? '' : `\`fw-gen ${[...path, ...words, ...shared].join(' ')}\``,
    optionTable(own),
    lines.length === 0 ? '' : `\`\`\`sh\n${lines.join('\n')}\n\`\`\``,
    ...commands.map((each) => sectionOf(each, path, depth + 1).trimEnd()),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

function optionTable(inputs: readonly Input<unknown>[]): string {
  const rows = inputs
    .filter(({ about }) => about !== '')
    .map(({ flags, about, initial, isRequired }) => {
      const isOption = flags.startsWith('-');
      const notes = isOption && isRequired === true ? '; required' : defaultOf(initial);
      return `| \`${flags}\` | ${`${about}${notes}`.replaceAll('|', '\\|').replaceAll('<', '\\<')} |`;
    });
  return rows.length === 0 ? '' : ['| Argument or option | Meaning |', '|---|---|', ...rows].join('\n');
}

function defaultOf(initial: unknown): string {
  return typeof initial === 'string' || typeof initial === 'number' ? `; default: \`${initial}\`` : '';
}
