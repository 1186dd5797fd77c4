import { join } from 'node:path';
import { ts } from 'ts-morph';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readMigrations } from './migrations.js';
import { fwGen, type Ran } from './test-support/fw-gen.js';
import { type TestProject, testProject } from './test-support/projects.js';

const EMITTED = 'src/generated/application.part.ts';
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: it is SQL.
/** Characters that a template literal, a comment or an editor could change. */
const ODD =
  "\uFEFF-- `back` ${tick} */ \\n \u2028 \u200B \t\r\nselect '\\', e'\\\\', $$${x}`$$, \"ä😀\";\r\n\r\n  select 2  \r\n";

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: it is SQL.

let project: TestProject;
beforeEach(() => {
  project = testProject();
});
afterEach(() => project.delete());

const generate = (...flags: readonly string[]): Promise<Ran> =>
  fwGen('generate', '--config', project.config, ...flags);

/** The emitted texts, as evaluated when the module is loaded. */
function emittedTexts(): readonly string[] {
  const source = ts.createSourceFile('x.ts', project.read(EMITTED), ts.ScriptTarget.Latest, true);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

test('an application has exactly the texts that the command line applies', async () => {
  project.write('src/migrations/0007_odd.sql', ODD);
  expect((await generate()).code).toBe(0);
  const { migrations, diagnostics } = readMigrations({
    projectDirectory: project.folder,
    migrationsDirectory: join(project.folder, 'src/migrations'),
  });
  expect(diagnostics).toEqual([]);
  const read = migrations.find(({ name }) => name === '0007_odd');
  expect(emittedTexts()).toEqual([read?.up]);
  expect(read?.up).toBe(ODD.slice(1).replaceAll('\r', ''));
});

test('a changed text makes the output stale, and the text of a deleted file is removed', async () => {
  project.write('src/migrations/0007_index.sql', 'select 1;\nselect 2;\n');
  expect((await generate()).code).toBe(0);
  expect((await generate('--check')).code).toBe(0);
  project.write('src/migrations/0007_index.sql', 'select 1;\nselect 3;\n');
  const stale = await generate('--check');
  expect(stale.code).toBe(1);
  expect(`${stale.info}${stale.error}`).toContain(
    `${EMITTED} is stale: caused by src/migrations/0007_index.sql:2:1`,
  );
  project.remove('src/migrations/0007_index.sql');
  expect((await generate()).code).toBe(0);
  expect(Object.keys(project.emitted())).not.toContain(EMITTED);
});

test('tables that migrations create get no first migration, and new names sort after them', async () => {
  project.write(
    'src/migrations/0007_orders.sql',
    'create table if not exists "orders" (id uuid primary key);\n',
  );
  expect((await generate()).code).toBe(0);
  const names = Object.keys(project.emitted()).filter((path) => /migrations\/\d/.test(path));
  expect(names).toEqual([
    'src/migrations/0007_orders.sql',
    expect.stringMatching(/^src\/migrations\/\d{14}_create_customers\.sql$/),
  ]);
});

test('the command line too advises to write a rename of a merged branch as a rename again', () => {
  const header = '-- fw-gen: after 20260301090000_create_orders\n-- fw-gen: tables orders\n';
  project.write('src/migrations/20260302090000_gift.sql', `${header}select 1;\n`);
  const step = '-- fw-gen migrate rename begins: orders.weight -> mass\n';
  project.write('src/migrations/20260302100000_mass.sql', `${header}${step}select 1;\n`);
  const { diagnostics } = readMigrations({
    projectDirectory: project.folder,
    migrationsDirectory: join(project.folder, 'src/migrations'),
  });
  expect(diagnostics.map(({ hint }) => hint)).toEqual([
    expect.stringContaining('20260302100000_mass renames a column'),
  ]);
});
