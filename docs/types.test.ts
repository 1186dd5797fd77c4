import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FORM_EXAMPLES } from '../test/types/form-examples.js';
import { ROOT } from './pages.js';

const GOLDEN = join(ROOT, 'generator/golden/types');
const PAGE = join(ROOT, 'docs/types.md');
const HEAD = '| TypeScript | column | JSON | OpenAPI |\n|---|---|---|---|\n';

/** The rows are cases that test/types sends, stores, reads and receives back. `UPDATE_GOLDEN=1` writes the table. */
test('the table of types is made from the golden case', () => {
  const table = HEAD + tableRows().join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const [before = ''] = page.split(HEAD);
  const rest = page.slice(before.length + HEAD.length).replace(/^(\|.*\n?)*/, '');
  const updated = `${before}${table}\n${rest}`;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, updated);
  expect(readFileSync(PAGE, 'utf8')).toBe(updated);
});

function tableRows(): readonly string[] {
  const source = textOf('input/sample.ts');
  const columns = textOf('expected/generated/sample.ts');
  const { components } = JSON.parse(textOf('expected/openapi.json'));
  const schemas: Readonly<Record<string, object>> = components.schemas.Forms.properties;
  return Object.entries(FORM_EXAMPLES).map(([name, [first]]) => {
    const typed = new RegExp(`readonly (${name}\\??: .*);`).exec(source)?.[1];
    const column = new RegExp(`column\\('${name}', \\{ column: '\\w+', sqlType: '([^']+)' \\}`).exec(
      columns,
    )?.[1];
    return row([typed, column, JSON.stringify(first?.json), schemaText(schemas[name])]);
  });
}

/** Without what is there for humans, and the names of schemas alone. */
function schemaText(schema: object | undefined): string {
  const bare = JSON.stringify(schema, (key, value: unknown) =>
    ['description', 'examples', 'pattern', 'mapping'].includes(key) ? undefined : value,
  );
  return bare.replaceAll('#/components/schemas/', '');
}

function row(cells: readonly (string | undefined)[]): string {
  const code = cells.map((cell) => {
    expect(cell).toBeDefined();
    const text = cell?.replaceAll('|', '\\|') ?? '';
    return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
  });
  return `| ${code.join(' | ')} |`;
}

function textOf(path: string): string {
  return readFileSync(join(GOLDEN, path), 'utf8');
}
