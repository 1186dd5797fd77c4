import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { fwGen, type Ran } from '../generator/test-support/fw-gen.js';
import { modelText, projectPerTest } from '../generator/test-support/projects.js';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';

const project = projectPerTest();
const { generate } = project;

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function breakSource(): void {
  project.write('src/models/broken.ts', modelText('Broken').replace(': string', ': RegExp'));
}

describe('generate --check', () => {
  test('ends with 0 if the output is current, else with 1, shows the difference and names the source and line that made each file stale', async () => {
    await generate();
    const before = project.emitted();
    expect(await generate('--check')).toMatchObject({
      ...{ code: 0, info: expect.stringMatching(/^7 files up to date, \d+ ms$/) },
    });
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

test('generate --quiet prints nothing on success, not even warnings', async () => {
  project.use('fwgen060-route-without-rule');
  expect(await generate('--quiet')).toEqual({ code: 0, info: '', error: '' });
  expect((await generate('--check')).error).toContain('Warning: ');
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

  beforeEach(() => project.use('fwgen060-route-without-rule'));

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

function warnOfAction(): void {
  project.use('fwgen065-unmarked-action');
}

test('warnings are mistakes with --strict, in every format', async () => {
  warnOfAction();
  for (const format of ['text', 'json', 'github', 'sarif']) {
    const { code, info, error } = await generate('--strict', '--format', format);
    expect(code).toBe(2);
    expect(info + error).toContain('FWGEN065');
    expect(info + error).not.toMatch(/warning (?!of)|Warning|"level": "warning"/);
  }
  expect(project.emitted()).toEqual({});
});

describe('reports for programs', () => {
  test.each([
    [
      breakSource,
      ...([
        'problems',
        'error',
        2,
        'FWGEN003',
        { file: 'src/models/broken.ts', line: 5, column: 3 },
      ] as const),
      'The type RegExp of title is not supported%0AUse plain data',
    ],
    [
      warnOfAction,
      ...(['warnings', 'warning', 0, 'FWGEN065', { file: 'src/actions.ts', line: 11, column: 14 }] as const),
      'ForgottenAction extends Action without @FwAction%0AMark it',
    ],
  ])(
    '%o: %s are JSON, annotations of GitHub and results of SARIF',
    async (prepare, list, level, exitCode, code, location, text) => {
      prepare();
      const report = async (format: string): Promise<string> => {
        const ran = await generate('--format', format);
        expect([ran.code, ran.error]).toEqual([exitCode, '']);
        return ran.info;
      };
      const json = JSON.parse(await report('json'));
      expect(json).toMatchObject({ mode: 'generate', exitCode });
      expect(json[list][0]).toMatchObject({ code, location });
      const { file, line, column } = location;
      expect(await report('github')).toContain(
        `::${level} file=${file},line=${line},col=${column},title=${code}::${text}`,
      );
      const [{ results, tool }] = JSON.parse(await report('sarif')).runs;
      const physicalLocation = {
        artifactLocation: { uri: file },
        region: { startLine: line, startColumn: column },
      };
      expect(results[0]).toMatchObject({ ruleId: code, level, locations: [{ physicalLocation }] });
      expect(tool.driver.rules).toContainEqual(expect.objectContaining({ id: code }));
    },
  );

  test('name files by their paths in the checkout for code hosts, which know no other ones', async () => {
    breakSource();
    vi.stubEnv('GITHUB_WORKSPACE', dirname(project.folder));
    const path = `${basename(project.folder)}/src/models/broken.ts`;
    expect((await generate('--format', 'github')).info).toContain(`::error file=${path},line=5`);
    expect((await generate('--format', 'sarif')).info).toContain(`"uri": "${path}"`);
    expect((await generate()).error).toMatch(/^src\/models\/broken\.ts:5:3 /);
    project.write('fw.config.yaml', '{}');
    expect((await generate('--format', 'github')).info).toContain(
      `::error file=${basename(project.folder)}/fw.config.yaml,line=1`,
    );
  });

  test('name files by their paths in the repository around them, where the pipeline names no checkout', async () => {
    breakSource();
    vi.stubEnv('GITHUB_WORKSPACE', undefined);
    project.write('.git', 'gitdir: elsewhere');
    vi.spyOn(process, 'cwd').mockReturnValue(join(project.folder, 'src'));
    expect((await generate('--format', 'github')).info).toContain('::error file=src/models/broken.ts,line=5');
  });

  test('describe every rule of SARIF, and end each sentence with one full stop', async () => {
    const run = async (...flags: readonly string[]): Promise<unknown> => {
      const { runs } = JSON.parse((await generate('--format', 'sarif', ...flags)).info);
      const ids = runs[0].tool.driver.rules.map(({ id }: { readonly id: string }) => id);
      const { ruleId, message } = runs[0].results[0];
      return { text: message.text, isDescribed: ids.includes(ruleId) };
    };
    const text = expect.stringMatching(/^This file is stale: .*[^.]\.$/);
    expect(await run('--check')).toEqual({ isDescribed: true, text });
    project.write('src/models/broken.ts', 'export abstract class Broken extends Model {');
    expect(await run()).toEqual({ isDescribed: true, text: "'}' expected. Fix the syntax error." });
    project.write('fw.config.yaml', '{}');
    expect(await run()).toMatchObject({ isDescribed: true });
  });

  test('name a missing section of the configuration, too', async () => {
    project.write('fw.config.yaml', project.read('fw.config.yaml').replace(/^ *generator: .*\n/m, ''));
    const { code, info } = await generate('--format', 'json');
    expect([code, JSON.parse(info).problems]).toMatchObject([
      2,
      [{ code: 'FWCONFIG', message: 'fw.generator: is missing' }],
    ]);
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
});

describe('explain', () => {
  const explain = (place: string): Promise<Ran> => project.run('explain', join(project.folder, place));

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
    const info = 'src/generated/server.ts comes from the project as a whole';
    expect(await explain('src/generated/server.ts')).toMatchObject({ code: 0, info });
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

  test.each(['src', 'src/none.ts'])('ends with 2 for %s, which is no file', async (place) => {
    const { code, error } = await explain(place);
    expect([code, error]).toEqual([2, expect.stringContaining('There is no file')]);
  });
});

describe('templates', () => {
  test('are listed with their views', async () => {
    const { info } = await fwGen('templates', 'list');
    expect(info).toMatch(/^model +ModelView$/m);
    expect(info).toMatch(/^migration +MigrationView$/m);
  });

  test('can be ejected once, and are used afterwards', async () => {
    project.use('orders', ', templates: own');
    const eject = (name: string): Promise<Ran> => project.run('templates', 'eject', name);
    const missing = await generate();
    expect([missing.code, missing.error]).toEqual([
      2,
      expect.stringMatching(
        /own FWGEN038 The templates folder does not exist\n +Correct fw\.generator\.templates .*, or create the folder/,
      ),
    ]);
    expect((await eject('server')).code).toBe(0);
    expect((await generate()).code).toBe(0);
    expect((await generate('--check')).code).toBe(0);
    project.write('own/server.hbs', `${project.read('own/server.hbs')}// ours\n`);
    await generate();
    expect(project.read('src/generated/server.ts')).toContain('// ours');
    expect(await eject('server')).toMatchObject({
      code: 2,
      error: expect.stringContaining('server.hbs blocks the path'),
    });
    expect((await eject('modle')).error).toContain('did you mean "model"?');
  });

  test('are not ejected into a path that is not a folder', async () => {
    project.use('orders', ', templates: own');
    project.write('own', 'a file');
    const { code, error } = await project.run('templates', 'eject', 'model');
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
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const write = (path: string, text: string): void => writeFileSync(join(folder, path), text);
  const init = (path = '', ...flags: readonly string[]): Promise<Ran> =>
    fwGen('init', join(folder, path), ...flags);

  beforeEach(() => {
    folder = temporaryFolder(onTestFinished);
  });

  test('creates a project that generates without mistakes', async () => {
    expect((await init('my app')).code).toBe(0);
    const config = join(folder, 'my app/fw.config.yaml');
    expect((await fwGen('generate', '--config', config)).error).toBe('');
    const gate = ['generate', '--check', '--strict', '--format', 'github'];
    expect(await fwGen(...gate, '--config', config)).toEqual({ code: 0, info: '', error: '' });
    expect(JSON.parse(read('my app/package.json'))).toMatchObject({
      name: 'my-app',
      dependencies: { 'fw-actions': '^1.2.3' },
    });
  });

  test('prints the project’s token, which is unique, readable only by its owner, and sent by the README’s request', async () => {
    const tokens: string[] = [];
    for (const name of ['one', 'two']) {
      const { info } = await init(name);
      const [, token = 'none'] = /Bearer ([\w-]{43})"/.exec(info) ?? [];
      expect(read(`${name}/.dev-token`)).toBe(`${token}\n`);
      expect(statSync(join(folder, name, '.dev-token')).mode & 0o077).toBe(0);
      const [request = ''] = /^curl .*$/m.exec(read(`${name}/README.md`)) ?? [];
      const passed = execFileSync('sh', ['-c', request.replace('curl', 'echo')], { cwd: join(folder, name) });
      expect(String(passed)).toContain(`Authorization: Bearer ${token}`);
      tokens.push(token, read(`${name}/.env`));
    }
    expect(new Set(tokens).size).toBe(4);
  });

  test('fits into a new repository with --yes: keeps its README, and adds to lists of files', async () => {
    write('README.md', '# Mine\n');
    write('.gitignore', '/dist\n*.log\n.env');
    write('.gitattributes', '*.png binary\n');
    write('biome.jsonc', '{}\n');
    const refused = await init();
    expect([refused.code, refused.error]).toEqual([2, expect.stringContaining('is not empty. Pass --yes')]);
    const { code, info } = await init('', '--yes');
    expect(code).toBe(0);
    expect(info).toMatch(
      /Added to \.gitignore\..*Let biome\.jsonc ignore src\/generated\..*DEVELOPMENT\.md describes/s,
    );
    expect(read('README.md')).toBe('# Mine\n');
    expect(read('DEVELOPMENT.md')).toContain('docker compose up');
    expect(read('.gitignore')).toBe('/dist\n*.log\n.env\nnode_modules/\ndata/\n.dev-token\n');
    expect(read('.gitattributes')).toMatch(
      /^\*\.png binary\n.*\nsrc\/generated\/\*\* text eol=lf linguist-generated -merge\n/,
    );
    expect(read('.prettierignore')).toContain('src/generated/\n');
    expect(read('eslint.config.js')).toContain("ignores: ['dist/', 'src/generated/']");
    expect([read('biome.jsonc'), existsSync(join(folder, 'biome.json'))]).toEqual(['{}\n', false]);
    expect(JSON.parse(read('tsconfig.json'))).toMatchObject({ compilerOptions: { sourceMap: true } });
    expect(await init('', '--yes')).toMatchObject({
      code: 2,
      error: expect.stringMatching(/already contains .*Dockerfile, .*tsconfig\.json/),
    });
  });

  test.each([
    ['pnpm', 'package.json', '{"packageManager":"pnpm@10.1.0"}'],
    ['yarn', 'yarn.lock', ''],
  ])('names the commands of %s in its project', async (manager, file, text) => {
    write(file, text);
    const { info } = await init('', '--yes');
    expect(info).toContain(`  # Let Dockerfile and .github/workflows/ci.yml install by ${manager}.`);
    expect(info).toContain(`  ${manager} install\n  ${manager} test\n  ${manager} run dev\n`);
  });

  test('adds to a package.json, and replaces in it only what npm init has written', async () => {
    const test = 'echo "Error: no test specified" && exit 1';
    const manifest = {
      name: 'mine',
      type: 'commonjs',
      dependencies: { 'fw-actions': '^1.0.0', pg: '8.0.0' },
    };
    write('package.json', JSON.stringify({ ...manifest, scripts: { test, build: 'make' } }));
    expect(await init('', '--yes')).toMatchObject({
      code: 2,
      error: expect.stringContaining('already contains package.json (scripts.build).'),
    });
    expect(readdirSync(folder)).toEqual(['package.json']);
    write('package.json', JSON.stringify({ ...manifest, scripts: { test } }, undefined, '\t'));
    const { code, info } = await init('', '--yes');
    expect(info).toContain(
      'Added to package.json. Replaced in package.json what npm init had written: type, scripts.test. Next:',
    );
    expect([code, read('package.json').split('\n')[1]]).toEqual([0, '\t"name": "mine",']);
    expect(JSON.parse(read('package.json'))).toMatchObject({
      ...manifest,
      type: 'module',
      scripts: { dev: 'fw-gen dev', test: expect.stringContaining('--test') },
      devDependencies: { typescript: expect.any(String) },
    });
    expect((await fwGen('generate', '--config', join(folder, 'fw.config.yaml'))).code).toBe(0);
  });

  test.each([
    ['tsconfig.json', '', 'already contains tsconfig.json'],
    ['src', '', 'The file src blocks the path'],
    ['blocked', 'blocked', 'The file blocked blocks the path'],
    ['blocked', 'blocked/below', 'The file blocked blocks the path'],
  ])('creates nothing where the file %s blocks a path of %s', async (file, path, message) => {
    write(file, 'a file');
    const { code, error } = await init(path, '--yes');
    expect([code, error.replaceAll(`${folder}/`, '')]).toEqual([2, expect.stringContaining(message)]);
    expect(readdirSync(folder)).toEqual([file]);
    expect(read(file)).toBe('a file');
  });
});

test('`fw-gen migrate rename` takes any name that TypeScript allows', async () => {
  const rename = (...names: readonly string[]): Promise<Ran> => project.run('migrate', 'rename', ...names);
  expect((await rename('Straße.größe', 'höhe')).error).not.toContain('Write');
  expect((await rename('Order.total', '__proto__')).error).toContain('Write the name of a field.');
});

test('`fw-gen migrate rename` tells how to finish the rename of a column with a name of its own', async () => {
  const source = project.read('src/models/customer.ts');
  const [, name = ''] = /readonly (\w+)!: string/.exec(source) ?? [];
  const options = `@AutoBuilder({ columns: { ${name}: { name: 'own_name' } } })`;
  project.write('src/models/customer.ts', source.replace(/@AutoBuilder(\(.*?\))?/s, options));
  await project.generate();
  const { info, error } = await project.run('migrate', 'rename', `Customer.${name}`, 'other');
  const [, former = ''] = /run: fw-gen migrate rename (\S+) other --finish/.exec(info) ?? [error];
  const changed = source.replace(`readonly ${name}!`, 'readonly other!').replaceAll(`.${name}(`, '.other(');
  project.write('src/models/customer.ts', changed);
  expect(await project.run('migrate', 'rename', former, 'other', '--finish')).toMatchObject({ code: 0 });
});
