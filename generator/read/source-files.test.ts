import { afterEach, beforeEach, expect, test } from 'vitest';
import { modelText, type TestProject, testProject } from '../test-support/projects.js';
import { readProject } from './read-project.js';
import { SourceFiles } from './source-files.js';

const PATHS = { source: 'src', output: 'src/generated', migrations: 'src/migrations' };

let project: TestProject;
beforeEach(() => {
  project = testProject();
});
afterEach(() => project.delete());

test('a source is parsed again only after a change', () => {
  const sources = new SourceFiles(project.folder);
  readProject(project.folder, PATHS, sources);
  const [order, customer] = [sources.load('src/models/order.ts'), sources.load('src/models/customer.ts')];
  expect(order).toBeDefined();
  project.write('src/models/customer.ts', modelText('Customer'));
  sources.forget(['src/models/customer.ts']);
  readProject(project.folder, PATHS, sources);
  expect(sources.load('src/models/order.ts')).toBe(order);
  expect(sources.load('src/models/customer.ts')).not.toBe(customer);
});

test('a source that was deleted, or whose syntax errors were corrected, is no longer reported', () => {
  const sources = new SourceFiles(project.folder);
  const codes = (): readonly string[] =>
    readProject(project.folder, PATHS, sources).diagnostics.map(({ code }) => code);
  expect(codes()).toEqual([]);
  for (const correct of [
    () => project.write('src/models/extra.ts', modelText('Extra')),
    () => project.remove('src/models/extra.ts'),
  ]) {
    project.write('src/models/extra.ts', 'export class extends {');
    sources.forget(['src/models/extra.ts']);
    expect(codes()).toContain('FWGEN001');
    correct();
    sources.forget(['src/models/extra.ts']);
    expect(codes()).toEqual([]);
  }
});
