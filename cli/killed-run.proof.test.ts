import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BuiltProgram, copyProgram } from '../generator/test-support/built-program.js';
import { modelText, type TestProject, testProject } from '../generator/test-support/projects.js';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';

let program: BuiltProgram;
let project: TestProject;
const tools = temporaryFolder();

beforeAll(() => {
  program = copyProgram();
  project = testProject();
});

afterAll(() => {
  program.delete();
  project.delete();
});

function fwGen(...args: readonly string[]): SpawnSyncReturns<string> {
  const argv = [...args, program.bin, 'generate', '--config', project.config];
  return spawnSync(process.execPath, argv, { encoding: 'utf8' });
}

/** Kills the process instead of the nth rename. */
function killedAt(count: number): SpawnSyncReturns<string> {
  const file = join(tools, 'preload.mjs');
  writeFileSync(
    file,
    `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const rename = fs.renameSync;
let left = ${count};
fs.renameSync = (...names) => {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
  return rename(...names);
};
syncBuiltinESMExports();`,
  );
  return fwGen('--import', file);
}

test('a killed run leaves each file either old or new, and the next run completes it', () => {
  expect(fwGen().status).toBe(0);
  const before = project.emitted();
  project.write('src/models/extra.ts', modelText('Extra'));
  project.write(
    'src/models/customer.ts',
    project.read('src/models/customer.ts').replace('readonly ', 'readonly first!: string;\n  readonly '),
  );
  const sources = ['src/models/extra.ts', 'src/models/customer.ts'].map(
    (path) => [path, project.read(path)] as const,
  );
  const after = timeless(inAnotherCopy(sources));
  const earlier = timeless(before);
  // Each run has less to do than the previous one.
  for (const count of [1, 2, 3, 2]) {
    const { signal } = killedAt(count);
    expect(signal).toBe('SIGKILL');
    for (const [path, text] of Object.entries(timeless(project.emitted()))) {
      if (!path.endsWith('.ts')) continue;
      expect([earlier[path], after[path]]).toContain(text);
    }
  }
  // Sources changed since the killed run: what it left must not look edited by hand.
  project.write('src/models/extra.ts', modelText('Extra', 'name'));
  expect(fwGen().stderr).toBe('');
  project.write('src/models/extra.ts', modelText('Extra'));
  expect(fwGen().status).toBe(0);
  expect(withoutMigrations(timeless(project.emitted()))).toEqual(withoutMigrations(after));
  expect(
    readdirSync(join(project.folder, 'src/generated')).filter((name) => name.endsWith('.fw-tmp')),
  ).toEqual([]);
});

/** The files without the times of their migrations, and the hashes that depend on them. */
function timeless(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const anyTime = (text: string): string => text.replace(/"[0-9a-f]{64}"/g, 'H').replace(/\d{14}/g, 'T');
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [anyTime(path), anyTime(text)]));
}

/** The files without migrations, which are written once, and without their texts in the parts. */
function withoutMigrations(files: Readonly<Record<string, string>>): object {
  const others = Object.entries(files).filter(([path]) => !path.includes('migrations'));
  return Object.fromEntries(others.map(([path, text]) => [path, text.replace(/create table [^;]*;/g, '')]));
}

function inAnotherCopy(sources: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  const copy = testProject();
  const args = [program.bin, 'generate', '--config', copy.config];
  expect(spawnSync(process.execPath, args).status).toBe(0);
  for (const [path, text] of sources) copy.write(path, text);
  expect(spawnSync(process.execPath, args).status).toBe(0);
  const emitted = copy.emitted();
  copy.delete();
  return emitted;
}
