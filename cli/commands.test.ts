import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fwGen, type Ran } from '../generator/test-support/fw-gen.js';
import { modelText, type TestProject, testProject } from '../generator/test-support/projects.js';

let project: TestProject;

beforeEach(() => {
  project = testProject();
});

afterEach(() => project.delete());

function generate(...flags: readonly string[]): Promise<Ran> {
  return fwGen('generate', '--config', project.config, ...flags);
}

function breakSource(): void {
  project.write('src/models/broken.ts', modelText('Broken').replace(': string', ': RegExp'));
}

describe('generate --check', () => {
  test('hints at a column that no migration mentions', async () => {
    await generate();
    const model = 'src/models/customer.ts';
    const text = project.read(model);
    const field = text.slice(0, text.lastIndexOf('}'));
    project.write(model, `${field}  readonly shoeSize?: string;\n}\n`);
    expect((await generate()).code).toBe(0);
    const check = (...flags: readonly string[]): Promise<Ran> => generate('--check', ...flags);
    expect(await check('--quiet')).toMatchObject({ code: 0, error: '' });
    const hinted = await check();
    expect([hinted.code, hinted.error]).toEqual([0, expect.stringContaining('Hint: no migration mentions')]);
    expect(hinted.error).toMatch(/\.shoe_size\. Run `fw-gen migrate diff`/);
    project.write(
      'src/migrations/20990101000000_shoes.sql',
      'alter table customers add column shoe_size text;\n',
    );
    expect((await generate()).code).toBe(0);
    expect(await check()).toMatchObject({ code: 0, error: '' });
  });

  test('ends with 0 and writes nothing if the output is current', async () => {
    await generate();
    const before = project.emitted();
    const { code, info } = await generate('--check');
    expect(code).toBe(0);
    expect(info).toMatch(/^7 files up to date, \d+ ms$/);
    expect(project.emitted()).toEqual(before);
  });

  test('ends with 1, shows the difference and names the source and line that made each file stale', async () => {
    await generate();
    const before = project.emitted();
    const source = project.read('src/models/customer.ts');
    const name = source.slice(source.lastIndexOf('readonly ') + 'readonly '.length).split(/[!?]/)[0] ?? '';
    project.write('src/models/customer.ts', source.replace(`readonly ${name}`, 'readonly renamed'));
    const line = source.split('\n').findIndex((each) => each.includes(`readonly ${name}`)) + 1;
    const { code, info } = await generate('--check');
    expect(code).toBe(1);
    expect(info).toContain(`src/generated/customer.ts is stale: caused by src/models/customer.ts:${line}:3`);
    expect(info).toContain('--- a/src/generated/customer.ts\n+++ b/src/generated/customer.ts\n@@ -');
    expect(info).toMatch(/^\+ .*renamed/m);
    expect(info).toMatch(/1 file stale, 6 up to date: run `fw-gen generate`, \d+ ms$/);
    expect(project.emitted()).toEqual(before);
  });

  test('lists files to create and files to remove', async () => {
    await generate();
    project.write('src/models/extra.ts', modelText('Extra'));
    expect((await generate('--check')).info).toContain(
      'src/generated/extra.ts is stale: caused by src/models/extra.ts:4:14',
    );
    await generate();
    project.remove('src/models/extra.ts');
    expect((await generate('--check')).error).toContain('FWGEN063 The file has the model Extra');
    project.remove('src/migrations/names.lock');
    const { info } = await generate('--check');
    expect(info).toContain('src/generated/extra.ts is stale: no source generates this file any more');
    expect(info).toContain('+++ /dev/null');
  });
});

test('generate --dry-run lists the changes without making them', async () => {
  const { code, info } = await generate('--dry-run');
  expect(code).toBe(0);
  expect(info).toContain('would create src/generated/order.ts');
  expect(info).toMatch(/11 files to write, 0 unchanged, \d+ ms$/);
  expect(project.emitted()).toEqual({});
});

test('generate --quiet prints nothing on success', async () => {
  expect(await generate('--quiet')).toEqual({ code: 0, info: '', error: '' });
});

test('generate --quiet omits warnings', async () => {
  project.delete();
  project = testProject('fwgen060-route-without-rule');
  expect((await generate()).error).toContain('Warning: ');
  expect(await generate('--check', '--quiet')).toEqual({ code: 0, info: '', error: '' });
});

describe('routes without a rule', () => {
  const warnings = async (...flags: readonly string[]): Promise<readonly string[]> =>
    (await generate(...flags)).error.split('\n').filter((line) => line.startsWith('Warning: '));
  const addAction = (number: number): void =>
    project.write(
      `src/action${number}.ts`,
      `import { Action, FwAction, HttpRoute } from 'fw-actions';
@FwAction
@HttpRoute('POST', '/things/${number}')
export class Thing${number}Action extends Action<void, void> {
  protected perform(): void {}
}
`,
    );

  beforeEach(() => {
    project.delete();
    project = testProject('fwgen060-route-without-rule');
  });

  test('are reported by every run that reads the sources', async () => {
    const [first] = await warnings();
    expect(first).toContain('POST /things/{id}/touch has no rule');
    addAction(1);
    expect(await warnings()).toHaveLength(2);
    expect(await warnings('--check')).toHaveLength(2);
    const open = project.read('src/action1.ts').replace('FwAction, ', 'Allow, everyone, FwAction, ');
    project.write('src/action1.ts', open.replace('@FwAction', '@FwAction\n@Allow(everyone)'));
    expect(await warnings()).toHaveLength(1);
  });

  test('are only counted after the first twenty', async () => {
    for (let number = 1; number <= 22; number += 1) addAction(number);
    const lines = await warnings();
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('Warning: 3 more. `fw-gen generate --check --strict` lists all.');
  });
});

describe('warnings', () => {
  beforeEach(() => {
    project.delete();
    project = testProject('fwgen065-unmarked-action');
  });

  const place = { file: 'src/actions.ts', line: 11, column: 14 };

  test('are part of the JSON report, of a run that succeeds', async () => {
    const { code, info, error } = await generate('--format', 'json');
    expect([code, error]).toEqual([0, '']);
    const { problems, warnings } = JSON.parse(info);
    expect(problems).toEqual([]);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatchObject({ code: 'FWGEN065', location: place });
  });

  test('are annotations on GitHub', async () => {
    const { code, info } = await generate('--format', 'github');
    expect([code, info.split('\n').length]).toEqual([0, 2]);
    expect(info).toContain(
      '::warning file=src/actions.ts,line=11,col=14,title=FWGEN065::ForgottenAction extends Action without @FwAction%0AMark it',
    );
  });

  test('are results of SARIF with their level', async () => {
    const { info } = await generate('--format', 'sarif');
    const [{ results }] = JSON.parse(info).runs;
    expect(results).toHaveLength(2);
    expect(results[0]).toMatchObject({ ruleId: 'FWGEN065', level: 'warning' });
    const [{ physicalLocation }] = results[0].locations;
    expect(physicalLocation.region).toEqual({ startLine: 11, startColumn: 14 });
  });

  test('are mistakes with --strict, in every format', async () => {
    for (const format of ['text', 'json', 'github', 'sarif']) {
      const { code, info, error } = await generate('--strict', '--format', format);
      expect(code).toBe(2);
      expect(info + error).toContain('FWGEN065');
      expect(info + error).not.toMatch(/warning (?!of)|Warning|"level": "warning"/);
    }
    expect(project.emitted()).toEqual({});
  });
});

test('generate --timing names the phases', async () => {
  const { info } = await generate('--timing');
  const phases = info
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/)[0]);
  expect(phases).toEqual(['config', 'read', 'check', 'emit', 'write']);
});

describe('a mistake', () => {
  test('is shown with its position, a code frame and a hint', async () => {
    breakSource();
    const { code, error } = await generate();
    expect(code).toBe(2);
    expect(error.split('\n')).toEqual([
      'src/models/broken.ts:5:3 FWGEN003 The type RegExp of title is not supported',
      '    3 | @AutoBuilder',
      "    4 | export class Broken extends Model<Broken, Id<Broken>, 'NEW'> {",
      '  > 5 |   readonly title!: RegExp;',
      '      |   ^',
      '    6 | }',
      '    7 |',
      '    Use plain data: `string`.',
      '',
      '1 mistake, nothing written',
    ]);
  });

  test('in the configuration is shown with its position and key', async () => {
    project.write('fw.config.yaml', project.read('fw.config.yaml').replace('migrations:', 'migratoins:'));
    const { code, error } = await generate();
    expect(code).toBe(2);
    expect(error).toMatch(/fw\.config\.yaml:3:\d+ FWCONFIG fw\.generator\.migratoins: unknown key/);
    expect(error).toContain('did you mean "migrations"?');
  });

  test('is one JSON document with --format json', async () => {
    breakSource();
    const { code, info } = await generate('--format', 'json');
    expect(JSON.parse(info)).toMatchObject({
      mode: 'generate',
      exitCode: code,
      problems: [{ code: 'FWGEN003', location: { file: 'src/models/broken.ts', line: 5, column: 3 } }],
      changes: [],
    });
  });

  test('is an annotation with --format github', async () => {
    breakSource();
    expect((await generate('--format', 'github')).info).toMatch(
      /^::error file=src\/models\/broken\.ts,line=5,col=3,title=FWGEN003::The type RegExp of title is not supported%0AUse plain data/,
    );
  });

  test('is a result with a rule with --format sarif', async () => {
    breakSource();
    const { runs } = JSON.parse((await generate('--format', 'sarif')).info);
    expect(runs[0].results[0]).toMatchObject({
      ruleId: 'FWGEN003',
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'src/models/broken.ts' },
            region: { startLine: 5, startColumn: 3 },
          },
        },
      ],
    });
    expect(runs[0].tool.driver.rules.map(({ id }: { id: string }) => id)).toContain('FWGEN003');
  });
});

describe('explain', () => {
  const explain = (place: string): Promise<Ran> =>
    fwGen('explain', join(project.folder, place), '--config', project.config);

  /** Line of the first match, from 1. */
  function lineOf(path: string, text: string): number {
    return (
      project
        .read(path)
        .split('\n')
        .findIndex((line) => line.includes(text)) + 1
    );
  }

  beforeEach(() => generate());

  test('says of a file that no single declaration causes that it comes from the whole project', async () => {
    const { code, info } = await explain('src/generated/server.ts');
    expect({ code, info }).toEqual({
      code: 0,
      info: 'src/generated/server.ts comes from the project as a whole',
    });
  });

  test('maps an emitted line to its declaration', async () => {
    const line = lineOf('src/generated/order.ts', 'approvedBy(');
    const { code, info } = await explain(`src/generated/order.ts:${line}`);
    const source = lineOf('src/models/order.ts', 'approvedBy');
    expect(code).toBe(0);
    expect(info).toContain(`src/generated/order.ts:${line} comes from src/models/order.ts:${source}:3`);
    expect(info).toContain(`> ${source} |   readonly approvedBy!: string | null;`);
  });

  test('maps a declaration to its emitted lines', async () => {
    const source = lineOf('src/models/order.ts', 'approvedBy');
    const { info } = await explain(`src/models/order.ts:${source}`);
    const emitted = lineOf('src/generated/order.ts', 'approvedBy(');
    const ranges = /is emitted to src\/generated\/order\.ts:(.*)$/m.exec(info)?.[1]?.split(', ') ?? [];
    const covers = ranges.some((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return first <= emitted && emitted <= last;
    });
    expect(covers).toBe(true);
  });

  test('states what is known about the shards of an action', async () => {
    expect((await explain('src/actions/order-place-action.ts')).info).toContain(
      'OrderPlaceAction touches one shard: proven. All staged models have one origin: shard (0, 0)',
    );
  });

  test('reports that lines above the declarations cause no output', async () => {
    expect((await explain('src/models/order.ts:1')).info).toBe(
      'src/models/order.ts:1 has no emitted code: it is above every marked declaration.',
    );
  });

  test.each(['0', '9999'])('ends with 2 for line %s, which no file has', async (line) => {
    for (const file of ['src/models/order.ts', 'src/generated/order.ts']) {
      expect(await explain(`${file}:${line}`)).toMatchObject({
        code: 2,
        error: expect.stringContaining(`${file} has no line ${line}`),
      });
    }
  });

  test('ends with 2 for a missing file', async () => {
    expect(await explain('src')).toMatchObject({
      code: 2,
      error: expect.stringContaining('There is no file'),
    });
    expect(await explain('src/none.ts')).toMatchObject({
      code: 2,
      error: expect.stringContaining('There is no file'),
    });
  });
});

describe('templates', () => {
  test('are listed with their views', async () => {
    const { info } = await fwGen('templates', 'list');
    expect(info).toMatch(/^model +ModelView$/m);
    expect(info).toMatch(/^sql-migrations +SqlMigrationsView$/m);
  });

  test('can be ejected once, and are used afterwards', async () => {
    project.delete();
    project = testProject('orders', ', templates: own');
    const eject = (name: string): Promise<Ran> =>
      fwGen('templates', 'eject', name, '--config', project.config);
    await generate();
    expect((await eject('server')).code).toBe(0);
    expect((await generate('--check')).code).toBe(0);
    project.write('own/server.hbs', `${project.read('own/server.hbs')}// ours\n`);
    await generate();
    expect(project.read('src/generated/server.ts')).toContain('// ours');
    expect(await eject('server')).toMatchObject({
      code: 2,
      error: expect.stringContaining('already exists'),
    });
    expect((await eject('modle')).error).toContain('did you mean "model"?');
  });

  test('are not ejected into a path that is not a folder', async () => {
    project.delete();
    project = testProject('orders', ', templates: own');
    project.write('own', 'a file');
    const { code, error } = await fwGen('templates', 'eject', 'model', '--config', project.config);
    expect(code).toBe(2);
    expect(error).toMatch(/^Cannot write .*own.*: E\w+ \(\w+\)\. The file .*own blocks the path. Move it/);
    expect(project.read('own')).toBe('a file');
  });
});

test.each([
  ['FWGEN048', /^# FWGEN048: A released version of an event or of stored params has changed incompatibly\n/],
  ['fwgen001', /^# FWGEN001: /],
  ['FW_SHARD_BUSY', /^# FW_SHARD_BUSY\n[\s\S]*\*\*Do:\*\*/],
  ['HTTP_BUSY', /^# HTTP_BUSY\n\nHTTP 503: /],
])('`fw-gen explain %s` prints its page, without a configuration', async (code, expected) => {
  const { code: exit, info } = await fwGen('explain', code, '--config', join(tmpdir(), 'no', 'such.yaml'));
  expect([exit, info]).toEqual([0, expect.stringMatching(expected)]);
});

test.each([
  ['FWGEN999', 'Code FWGEN999 does not exist'],
  ['FW_SHARD_BUSI', 'did you mean "FW_SHARD_BUSY"?'],
])('`fw-gen explain %s` is refused', async (code, message) => {
  const ran = await fwGen('explain', code);
  expect([ran.code, ran.error]).toEqual([2, expect.stringContaining(message)]);
});

test.each([
  ['genrate', 'Did you mean generate?'],
  ['generate --chek', 'Did you mean --check?'],
])('`fw-gen %s` gets a suggestion', async (line, expected) => {
  const { code, error } = await fwGen(...line.split(' '));
  expect(code).toBe(2);
  expect(error).toContain(expected);
});

describe('init', () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'fw-init-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('creates a project that generates without mistakes', async () => {
    expect((await fwGen('init', join(folder, 'my app'), '--yes')).code).toBe(0);
    const config = join(folder, 'my app/fw.config.yaml');
    expect((await fwGen('generate', '--config', config)).error).toBe('');
    const gate = ['generate', '--check', '--strict', '--format', 'github'];
    expect(await fwGen(...gate, '--config', config)).toEqual({ code: 0, info: '', error: '' });
    expect(JSON.parse(readFileSync(join(folder, 'my app/package.json'), 'utf8'))).toMatchObject({
      name: 'my-app',
      dependencies: { 'fw-actions': '^1.2.3' },
    });
  });

  test('prints the project’s token, which is unique, readable only by its owner, and sent by the README’s request', async () => {
    const tokens: string[] = [];
    for (const name of ['one', 'two']) {
      const { info } = await fwGen('init', join(folder, name), '--yes');
      const [, token = 'none'] = /Bearer ([\w-]{43})"/.exec(info) ?? [];
      const file = join(folder, name, '.dev-token');
      expect(readFileSync(file, 'utf8')).toBe(`${token}\n`);
      expect(statSync(file).mode & 0o077).toBe(0);
      const [request = ''] = /^curl .*$/m.exec(readFileSync(join(folder, name, 'README.md'), 'utf8')) ?? [];
      const passed = execFileSync('sh', ['-c', request.replace('curl', 'echo')], { cwd: join(folder, name) });
      expect(String(passed)).toContain(`Authorization: Bearer ${token}`);
      tokens.push(token, readFileSync(join(folder, name, '.env'), 'utf8'));
    }
    expect(new Set(tokens).size).toBe(4);
  });

  test('fits into a new repository: keeps its README, and adds to its .gitignore', async () => {
    writeFileSync(join(folder, 'README.md'), '# Mine\n');
    writeFileSync(join(folder, 'LICENSE'), 'MIT');
    writeFileSync(join(folder, '.gitignore'), '/dist\n*.log\n.env');
    const { code, info } = await fwGen('init', folder, '--yes');
    expect(code).toBe(0);
    expect(info).toMatch(/Added to \.gitignore\..*DEVELOPMENT\.md describes/s);
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
    expect(read('README.md')).toBe('# Mine\n');
    expect(read('DEVELOPMENT.md')).toContain('docker compose up');
    expect(read('.gitignore')).toBe('/dist\n*.log\n.env\nnode_modules/\ndata/\n.dev-token\n');
    expect(await fwGen('init', folder, '--yes')).toMatchObject({
      code: 2,
      error: expect.stringMatching(/already contains .*Dockerfile, .*tsconfig\.json/),
    });
    expect(read('.gitignore')).toContain('.dev-token\n');
  });

  test('lets git, prettier, biome and eslint leave generated files alone, beside what a project has', async () => {
    writeFileSync(join(folder, '.gitattributes'), '*.png binary\n');
    writeFileSync(join(folder, 'biome.jsonc'), '{}\n');
    const { code, info } = await fwGen('init', folder, '--yes');
    expect(code).toBe(0);
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
    expect(read('.gitattributes')).toMatch(
      /^\*\.png binary\n.*\nsrc\/generated\/\*\* text eol=lf linguist-generated -merge\n/,
    );
    expect(read('.prettierignore')).toContain('src/generated/\n');
    expect(read('eslint.config.js')).toContain("ignores: ['dist/', 'src/generated/']");
    expect(read('biome.jsonc')).toBe('{}\n');
    expect(existsSync(join(folder, 'biome.json'))).toBe(false);
    expect(info).toContain('Let biome.jsonc ignore src/generated.');
    expect(JSON.parse(read('tsconfig.json'))).toMatchObject({ compilerOptions: { sourceMap: true } });
  });

  test('fits into the package.json of npm install, and keeps the installed version', async () => {
    const manifest = join(folder, 'package.json');
    writeFileSync(manifest, JSON.stringify({ dependencies: { 'fw-actions': '^1.0.0', pg: '8.0.0' } }));
    const { code, info } = await fwGen('init', folder, '--yes');
    expect({ code, info }).toEqual({ code: 0, info: expect.stringContaining('Added to package.json.') });
    const written = JSON.parse(readFileSync(manifest, 'utf8')) as object;
    expect(written).toMatchObject({
      type: 'module',
      scripts: { dev: 'fw-gen dev' },
      dependencies: { 'fw-actions': '^1.0.0', pg: '8.0.0' },
      devDependencies: { typescript: expect.any(String) },
    });
    expect((await fwGen('generate', '--config', join(folder, 'fw.config.yaml'))).code).toBe(0);
  });

  test('replaces what npm init has written, and no other script', async () => {
    const manifest = join(folder, 'package.json');
    const test = 'echo "Error: no test specified" && exit 1';
    writeFileSync(
      manifest,
      JSON.stringify({ name: 'mine', type: 'commonjs', scripts: { test, build: 'make' } }),
    );
    const { code, error } = await fwGen('init', folder, '--yes');
    expect({ code, error }).toEqual({
      code: 2,
      error: expect.stringContaining('already contains package.json (scripts.build).'),
    });
    expect(readdirSync(folder)).toEqual(['package.json']);
    writeFileSync(manifest, JSON.stringify({ name: 'mine', type: 'commonjs', scripts: { test } }));
    expect((await fwGen('init', folder, '--yes')).code).toBe(0);
    const written = JSON.parse(readFileSync(manifest, 'utf8')) as object;
    expect(written).toMatchObject({
      name: 'mine',
      type: 'module',
      scripts: { test: expect.stringContaining('--test') },
    });
  });

  test('never replaces a file', async () => {
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    const { code, error } = await fwGen('init', folder, '--yes');
    expect({ code, error }).toEqual({
      code: 2,
      error: expect.stringContaining('already contains tsconfig.json'),
    });
    expect(readdirSync(folder)).toEqual(['tsconfig.json']);
  });

  test.each([
    ['blocked', []],
    ['blocked', ['--yes']],
    ['blocked/below', ['--yes']],
  ])('creates nothing in %s, where a file blocks the path', async (path, flags) => {
    writeFileSync(join(folder, 'blocked'), 'a file');
    const { code, error } = await fwGen('init', join(folder, path), ...flags);
    expect({ code, error }).toEqual({
      code: 2,
      error: expect.stringContaining(`The file ${join(folder, 'blocked')} blocks the path`),
    });
    expect(readdirSync(folder)).toEqual(['blocked']);
  });

  test('leaves no files behind after a failure', async () => {
    writeFileSync(join(folder, 'src'), 'a file');
    expect((await fwGen('init', folder, '--yes')).code).toBe(2);
    expect(readdirSync(folder)).toEqual(['src']);
  });
});

test('`fw-gen migrate rename` takes any name that TypeScript allows', async () => {
  const rename = (...names: readonly string[]): Promise<Ran> =>
    fwGen('migrate', 'rename', ...names, '--config', project.config);
  expect((await rename('Straße.größe', 'höhe')).error).not.toContain('Write');
  expect((await rename('Order.total', '__proto__')).error).toContain('Write the name of a field.');
});
