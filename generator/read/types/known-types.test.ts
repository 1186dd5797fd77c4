import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ReadMemory } from '../read-memory.js';
import { readProject } from '../read-project.js';
import type { ReadRequest } from '../read-request.js';

const paths: ReadRequest['paths'] = { source: '', output: 'generated', migrations: 'migrations' };
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fw-known-types-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('city.ts', 'export interface City { readonly name: string }');
  write('thing.ts', THING);
  write(
    'address.ts',
    `import type { City } from './city.js';
export interface Address { readonly city: City }
export interface Wrong { readonly city: City; readonly at: Map<string, City>; readonly at: string }
export interface Tree { readonly leaf: Leaf | null }
export interface Leaf { readonly tree: Tree }`,
  );
  for (const name of ['A', 'B']) write(`${name}.ts`, eventText(name, 'Address'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('every file that uses a shared type depends on the files behind it', async () => {
  const memory = new ReadMemory();
  await readProject(folder, paths, memory);
  for (const file of ['A.ts', 'B.ts'])
    expect([...(memory.resultOf(file)?.requested ?? [])]).toEqual(
      expect.arrayContaining(['address.ts', 'city.ts']),
    );
  memory.forget(['city.ts']);
  expect([memory.resultOf('A.ts'), memory.resultOf('B.ts')]).toEqual([undefined, undefined]);
});

test('a mistake in a shared type is reported by every file that uses it', async () => {
  for (const name of ['A', 'B']) writeFileSync(join(folder, `${name}.ts`), eventText(name, 'Wrong'));
  const memory = new ReadMemory();
  await readProject(folder, paths, memory);
  const mistakes = ['A.ts', 'B.ts'].map((file) => memory.resultOf(file)?.diagnostics.map(({ code }) => code));
  expect(mistakes).toEqual([['FWGEN004'], ['FWGEN004']]);
});

test('nested types have the same result in any order of reading', async () => {
  const fieldsOf = async (...types: readonly string[]): Promise<unknown> => {
    for (const [index, type] of types.entries())
      writeFileSync(join(folder, `${index === 0 ? 'A' : 'B'}.ts`), eventText(type, type));
    const { schema } = await readProject(folder, paths, new ReadMemory());
    return Object.fromEntries(schema.events.map(({ name, fields }) => [name, fields[0]?.type]));
  };
  expect(await fieldsOf('Tree', 'Leaf')).toEqual(await fieldsOf('Leaf', 'Tree'));
});

const THING = `import { AutoBuilder, type Id, Model } from 'fw-actions';
@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> { readonly name!: string; }`;

function eventText(name: string, type: string): string {
  return `import { ModelEvent } from 'fw-actions';
import type { ${type} } from './address.js';
import type { Thing } from './thing.js';
export class ${name}Event extends ModelEvent<Thing> { readonly field!: ${type}; }`;
}
