import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { generate } from '../generate.js';
import { ownTemplateText, PARTIALS, TEMPLATES } from '../templates.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const START = '\uE000';
const END = '\uE001';
/** A mustache that prints a value, not a block, a partial, a comment or `else`. */
const VALUE = /\{\{(?![#/>!]|else\b).*?\}\}/g;
const folder = temporaryFolder();

beforeAll(() => {
  // A folder is no template, whatever its name.
  mkdirSync(join(folder, 'templates', 'old.hbs'), { recursive: true });
  for (const path of [...Object.keys(TEMPLATES), ...PARTIALS.map((name) => `partials/${name}`)]) {
    const file = join(folder, 'templates', `${path}.hbs`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, ownTemplateText(path).replace(VALUE, `${START}$&${END}`));
  }
});
/** What a project emits with these templates. */
async function emitted(source: string, templatesDirectory: string): Promise<ReadonlyMap<string, string>> {
  const { changes, diagnostics } = await generate({
    projectDirectory: ROOT,
    sourceDirectory: join(ROOT, source),
    outputDirectory: join(ROOT, source, 'generated'),
    clientDirectory: join(ROOT, source, 'generated/client'),
    migrationsDirectory: join(ROOT, source, 'migrations'),
    templatesDirectory,
    dryRun: true,
    force: true,
  });
  expect(diagnostics).toEqual([]);
  return new Map(changes.map(({ path, text = '' }) => [path, text]));
}

const SOURCES = [
  'examples/wallet',
  'examples/booking',
  ...['event-lock', 'handlers', 'natural-keys', 'odd-names', 'field-rules', 'migration-texts', 'types'].map(
    (name) => `generator/golden/${name}/input`,
  ),
];

describe.each(SOURCES)('what %s emits', (source) => {
  let files: ReadonlyMap<string, string> = new Map();
  beforeAll(async () => {
    const all = await emitted(source, join(folder, 'templates'));
    files = new Map([...all].filter(([, text]) => text.includes(START)));
  });

  test('has no value of more than one line', () => {
    const values = [...files.values()].flatMap((text) => text.split(START).slice(1));
    expect(values.length).toBeGreaterThan(100);
    expect(values.filter((value) => value.slice(0, value.indexOf(END)).includes('\n'))).toEqual([]);
  });

  test('has words of a template in at least half of its lines, in every file', () => {
    for (const [path, text] of files) {
      if (!path.includes('/generated/')) continue;
      const withoutSql = text.replace(/^ *up: `(?:\\.|[^`\\])*`/gms, '');
      const lines = withoutSql.split('\n').filter((line) => line.trim() !== '');
      const own = lines.filter((line) => /\w/.test(line.replaceAll(/\uE000.*?\uE001/g, '')));
      expect([path, own.length / lines.length >= 0.5]).toEqual([path, true]);
    }
  });
});

test('a line that a template of the user adds is emitted for each action, as the page shows', async () => {
  const page = readFileSync(join(ROOT, 'docs/templates.md'), 'utf8');
  const [, start = ''] =
    /<!-- start of partials\/action.hbs -->\n```handlebars\n([\s\S]*?)```/.exec(page) ?? [];
  const [first = '', ...added] = start.split('\n');
  const own = ownTemplateText('partials/action');
  expect(own.startsWith(`${first}\n`)).toBe(true);
  const mine = join(folder, 'mine');
  mkdirSync(join(mine, 'partials'), { recursive: true });
  writeFileSync(join(mine, 'partials/action.hbs'), own.replace(`${first}\n`, [first, ...added].join('\n')));
  const text = (await emitted('examples/wallet', mine)).get('examples/wallet/generated/wallet.part.ts') ?? '';
  expect(text).toContain(`  WalletCloseAction: defineAction(WalletCloseAction, {
    // Callers need the route 'POST' '/wallets/{walletId}/close'.
    doc: `);
  expect(text.match(/Callers need the route/g)).toHaveLength(7);
});
