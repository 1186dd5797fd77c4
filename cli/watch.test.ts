import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { modelText, projectPerTest } from '../generator/test-support/projects.js';
import { SourceFiles } from '../generator/watch.js';
import { GENERATE } from './generate-command.js';
import { run } from './program.js';

const PATIENCE_MS = 60_000;

vi.setConfig({ testTimeout: 2 * PATIENCE_MS });

const { load: original, text: originalText } = SourceFiles.prototype;

const project = projectPerTest('orders', ', templates: own');
beforeEach(() => project.write('own/README.md', 'Templates.'));
let stop: AbortController;
let running: Promise<number>;
let info: string[];
let error: string[];

function watch(): void {
  stop = new AbortController();
  info = [];
  error = [];
  const output = { info: (line: string) => info.push(line), error: (line: string) => error.push(line) };
  const argv = ['generate', '--watch', '--config', project.config];
  running = run(argv, output, { version: '1.2.3', commands: [GENERATE], signal: stop.signal });
}

beforeEach(async () => {
  watch();
  await until(() => info.some((line) => line.includes('11 files written')));
});

afterEach(async () => {
  stop.abort();
  expect(await running).toBe(0);
});

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(`Timed out.\n${info.join('\n')}\n${error.join('\n')}`);
    await sleep(10);
  }
}

function emits(name: string): boolean {
  return `src/generated/${name}` in project.emitted();
}

test('--watch follows new and removed sources, in new and renamed folders as well', async () => {
  project.write('src/models/deep/extra.ts', modelText('Extra'));
  await until(() => emits('extra.ts'));
  project.write('src/models/deep/extra.ts', modelText('Extra', 'name'));
  await until(() => project.emitted()['src/generated/extra.ts']?.includes('name(') === true);
  renameSync(join(project.folder, 'src/models/deep'), join(project.folder, 'src/models/moved'));
  await until(() => project.emitted()['src/generated/extra.ts']?.includes('/moved/extra.js') === true);
  project.remove('src/models/moved/extra.ts');
  await until(() => !emits('extra.ts'));
});

test('--watch reports that it has started, even if it writes nothing', async () => {
  expect(info[0]).toMatch(/^Watching the sources of .*fw\.config\.yaml\. Ctrl\+C stops\.$/);
  stop.abort();
  expect(await running).toBe(0);
  watch();
  await until(() => info.some((line) => /unchanged|up to date/.test(line)));
});

test('--watch outlives syntax errors and a broken configuration', async () => {
  project.write('src/models/extra.ts', '@AutoBuilder\nexport class {');
  await until(() => error.some((line) => line.includes('FWGEN001')));
  project.write('src/models/extra.ts', modelText('Extra'));
  await until(() => emits('extra.ts'));
  const config = project.read('fw.config.yaml');
  project.write('fw.config.yaml', 'fw: [');
  await until(() => error.some((line) => line.includes('FWCONFIG')));
  info.length = 0;
  project.write('fw.config.yaml', config);
  await until(() => info.some((line) => /unchanged|up to date/.test(line)));
  project.write('src/models/other.ts', modelText('Other'));
  await until(() => emits('other.ts'));
});

test('--watch reports a bug of the generator with the file, and reads the next edit', async () => {
  const load = vi.spyOn(SourceFiles.prototype, 'load').mockImplementation(function (this: SourceFiles, file) {
    if (this.text(file)?.includes('// unreadable'))
      throw new TypeError('Cannot read properties of undefined');
    return original.call(this, file);
  });
  try {
    project.write('src/models/extra.ts', `${modelText('Extra')}// unreadable\n`);
    await until(() => error.length > 0);
    expect(error.join('\n')).toMatch(/^This is a bug in fw-gen\. Please report it:\n/);
    expect(error.join('\n')).toContain('src/models/extra.ts');
    expect(error.join('\n')).toContain('Caused by: TypeError: Cannot read properties of undefined');
    project.write('src/models/extra.ts', modelText('Extra'));
    await until(() => emits('extra.ts'));
  } finally {
    load.mockRestore();
  }
});

test('--watch reads a source that appears while a run looks for it, as in a checkout of git', async () => {
  const late = 'src/models/deep/late.ts';
  const text = vi.spyOn(SourceFiles.prototype, 'text').mockImplementation(function (this: SourceFiles, file) {
    const found = originalText.call(this, file);
    if (file === late && found === undefined) project.write(late, "export type Late = 'LATE';\n");
    return found;
  });
  try {
    const importing = `import type { Late } from './deep/late.js';\n${modelText('Extra')}`;
    project.write('src/models/extra.ts', importing.replace(': string', ': Late'));
    await until(() => emits('extra.ts'));
  } finally {
    text.mockRestore();
  }
});

test('--watch reports once that the project is gone, and continues when it is back', async () => {
  const elsewhere = `${project.folder}-elsewhere`;
  renameSync(project.folder, elsewhere);
  await until(() => error.length > 0);
  const said = error.length;
  await sleep(300);
  expect(error.length).toBe(said);
  renameSync(elsewhere, project.folder);
  project.write('src/models/other.ts', modelText('Other'));
  await until(() => emits('other.ts'));
});

test('--watch notices changed templates and removed output', async () => {
  project.write('own/server.hbs', '{{> header}}// ours\n');
  await until(() => project.emitted()['src/generated/server.ts']?.includes('// ours') === true);
  project.remove('src/generated/order.ts');
  await until(() => emits('order.ts'));
});

test('--watch follows the path aliases of a changed tsconfig.json', async () => {
  const aliases = (folder: string): string =>
    JSON.stringify({ compilerOptions: { paths: { '@/*': [folder] } } });
  project.write('tsconfig.json', aliases('./src/near/*'));
  project.write('src/near/size.ts', "export type Size = 'NEAR';\n");
  project.write('src/far/size.ts', "export type Size = 'FAR';\n");
  project.write(
    'src/models/extra.ts',
    `import type { Size } from '@/size.js';\n${modelText('Extra').replace(': string', ': Size')}`,
  );
  await until(() => project.emitted()['src/generated/extra.ts']?.includes('near/size') === true);
  // Several times: a single run could have another cause.
  for (const folder of ['far', 'near', 'far', 'near']) {
    project.write('tsconfig.json', aliases(`./src/${folder}/*`));
    await until(() => project.emitted()['src/generated/extra.ts']?.includes(`${folder}/size`) === true);
  }
});

test('--watch ends with its signal although one change follows the other', async () => {
  const MOST = 300;
  let edits = 0;
  const edit = (): void => {
    edits += 1;
    if (edits < MOST) project.write('src/models/endless.ts', modelText('Endless', `field${edits}`));
  };
  const ended = new AbortController();
  const argv = ['generate', '--watch', '--config', project.config];
  const output = { info: edit, error: edit };
  const second = run(argv, output, { version: '1.2.3', commands: [GENERATE], signal: ended.signal });
  edit();
  setTimeout(() => ended.abort(), 100);
  expect(await second).toBe(0);
  expect(edits).toBeLessThan(MOST);
});

test('--watch warns once of a change that leaves the output as it is', async () => {
  const action = `import { Action } from 'fw-actions';
export class ForgottenAction extends Action<void, void> { protected perform(): void {} }
`;
  const warnings = (name: string): readonly string[] => error.filter((line) => line.includes(name));
  project.write('src/forgotten.ts', action);
  await until(() => warnings('ForgottenAction').length > 0);
  project.write('src/forgotten.ts', `${action}${action.split('\n')[1]?.replace('Forgotten', 'Second')}`);
  await until(() => warnings('SecondAction').length > 0);
  expect(warnings('ForgottenAction')).toHaveLength(1);
});
