import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { modelText, type TestProject, testProject } from '../test-support/projects.js';
import { parseSource } from './parse-source.js';
import { ReadMemory } from './read-memory.js';
import { readProject } from './read-project.js';
import { SourceFiles } from './source-files.js';

const PATHS = { source: 'src', output: 'src/generated', migrations: 'src/migrations' };

vi.mock('./parse-source.js', { spy: true });

function parsedFiles(): readonly string[] {
  return vi.mocked(parseSource).mock.calls.map(([file]) => file);
}

let project: TestProject;
beforeEach(() => {
  vi.mocked(parseSource).mockClear();
  project = testProject();
});
afterEach(() => project.delete());

function writeEvents(model: string, count: number): void {
  for (let each = 0; each < count; each += 1) {
    const text = `import { ModelEvent } from 'fw-actions';
import { ${model} } from './${model.toLowerCase()}.js';

export class ${model}${each}Event extends ModelEvent<${model}> {
  readonly note!: string;
}
`;
    project.write(`src/many/${model.toLowerCase()}-event${each}.ts`, text);
  }
}

test('each source is read and parsed once, even if many others refer to it', async () => {
  // Far more files than trees are kept, and by name all events stand between the models.
  const models = Array.from({ length: 12 }, (_, each) => `M${each}`);
  for (const model of models) {
    project.write(`src/many/${model.toLowerCase()}.ts`, modelText(model));
    writeEvents(model, 3);
  }
  const memory = new ReadMemory();
  const noteText = vi.spyOn(memory, 'noteText');
  const { schema, diagnostics } = await readProject(project.folder, PATHS, memory);
  expect(diagnostics).toEqual([]);
  expect(schema.events.filter(({ file }) => file.startsWith('src/many/'))).toHaveLength(36);
  const read = noteText.mock.calls.filter(([, text]) => text !== undefined).map(([file]) => file);
  expect(read.length).toBeGreaterThan(48);
  expect(new Set(read).size).toBe(read.length);
  const many = parsedFiles().filter((file) => file.startsWith('src/many/'));
  expect(many).toHaveLength(48);
  expect(new Set(many).size).toBe(48);
});

test('a migration as this program writes it is not parsed, one that was changed is', async () => {
  const written = (name: string): string => `// First migration.
import { defineMigration, type Migration } from 'fw-actions/codegen';

export const migration: Migration = defineMigration(
  '${name}',
  \`
create table t (id uuid)
\`,
);
`;
  project.write('src/migrations/0101_one.ts', written('0101_one'));
  project.write('src/migrations/0102_two.ts', written('0102_two').replace('export ', ''));
  const { schema, diagnostics } = await readProject(project.folder, PATHS, new ReadMemory());
  expect(schema.migrations.map(({ name }) => name)).toContain('0101_one');
  expect(diagnostics.map(({ code, location }) => [code, location.file])).toEqual([
    ['FWGEN035', 'src/migrations/0102_two.ts'],
  ]);
  expect(parsedFiles()).toContain('src/migrations/0102_two.ts');
  expect(parsedFiles()).not.toContain('src/migrations/0101_one.ts');
});

test('only the most recently used trees stay in memory', () => {
  for (const name of ['a', 'b', 'c']) project.write(`src/${name}.ts`, `export const ${name} = 1;\n`);
  const sources = new SourceFiles(project.folder, { treeLimit: 2 });
  const [a, b] = [sources.load('src/a.ts'), sources.load('src/b.ts')];
  expect(sources.load('src/a.ts')).toBe(a);
  sources.load('src/c.ts');
  expect(sources.load('src/a.ts')).toBe(a);
  expect(sources.load('src/b.ts')).not.toBe(b);
});
