import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../runtime/config/test-support/temporary-folder.js';
import { formatDiagnostic } from './diagnostics.js';
import { type GenerateResult, generate } from './generate.js';

const orders = fileURLToPath(new URL('golden/orders/input', import.meta.url));
const parameterProperties = fileURLToPath(new URL('golden/parameter-properties/input', import.meta.url));
const repository = fileURLToPath(new URL('..', import.meta.url));

describe('the output', () => {
  test('does not depend on line ends, byte order marks, folders and time zones', async () => {
    const plain = project(orders);
    const other = project(orders, 'a longer folder name');
    for (const file of filesBelow(other)) {
      const text = readFileSync(join(other, file), 'utf8');
      writeFileSync(join(other, file), `\uFEFF${text.replaceAll('\n', '\r\n')}`);
    }
    await run(plain);
    await inTimeZone('Pacific/Kiritimati', () => run(other));
    expect(emittedBy(other)).toEqual(emittedBy(plain));
  });

  test('begins a recursive type in each field of a response that is the response itself', async () => {
    const folder = project(parameterProperties);
    const file = join(folder, 'sales.ts');
    const text = readFileSync(file, 'utf8');
    const getter = 'get parts(): readonly SaleResponse[] { return []; }';
    writeFileSync(file, text.replace('static from(', `${getter}\n\n  static from(`));
    await run(folder);
    expect(readFileSync(join(folder, 'generated/sale.part.ts'), 'utf8')).toMatch(
      /parts: t\.list\(t\.recursive\('SaleResponse', t\.object\(\{.*parts: t\.list\(t\.again\('SaleResponse'\)\)/,
    );
  });

  test('equals the committed output of the wallet', async () => {
    const folder = temporaryFolder(onTestFinished);
    cpSync(join(repository, 'examples/wallet'), join(folder, 'examples/wallet'), { recursive: true });
    const wallet = join(folder, 'examples/wallet');
    const result = await generate({
      ...foldersOf(wallet),
      clientDirectory: join(wallet, 'generated/client'),
      projectDirectory: folder,
      title: 'example.wallet',
    });
    expect(result.diagnostics).toEqual([]);
    expect(result.changes.filter(({ kind }) => kind !== 'unchanged')).toEqual([]);
  });

  test('follows the sources: files of a removed model are deleted, its migration stays', async () => {
    const folder = project(orders);
    await run(folder);
    writeFileSync(join(folder, 'models/extra.ts'), thing('Extra'));
    await run(folder);
    expect(existsSync(join(folder, 'generated/extra.ts'))).toBe(true);
    rmSync(join(folder, 'models/extra.ts'));
    rmSync(join(folder, 'migrations/names.lock'));
    const { changes } = await run(folder);
    expect(changes.filter(({ kind }) => kind === 'remove').map(({ path }) => path)).toEqual([
      'generated/extra.part.ts',
      'generated/extra.ts',
    ]);
    expect(existsSync(join(folder, 'generated/extra.ts'))).toBe(false);
    expect(existsSync(migrationOf(folder, 'extras'))).toBe(true);
  });

  test('never changes an existing migration', async () => {
    const folder = project(orders);
    await run(folder);
    const migration = migrationOf(folder, 'orders');
    const edited = readFileSync(migration, 'utf8').replace('remark text', 'remark varchar(80)');
    writeFileSync(migration, edited);
    await run(folder);
    expect(readFileSync(migration, 'utf8')).toBe(edited);
  });
});

test.each<[readonly string[], boolean]>([
  [['-- Later: create table things (id uuid);\nselect 1;'], true],
  [['create table things (id uuid primary key);'], false],
  [['create table thing (id uuid primary key);\nalter table thing rename to things;'], false],
  [['create table things (id uuid primary key);', 'drop table things;'], true],
])('a table that no migration leaves behind gets its first one (%j)', async (texts, isCreated) => {
  const folder = temporaryFolder(onTestFinished);
  writeFileSync(join(folder, 'thing.ts'), thing('Thing'));
  mkdirSync(join(folder, 'migrations'));
  for (const [index, text] of texts.entries())
    writeFileSync(join(folder, `migrations/000${index + 1}_mine_${index}.sql`), text);
  const { diagnostics, changes } = await run(folder);
  expect(diagnostics).toEqual([]);
  expect(changes.some(({ path }) => path.endsWith('_create_things.sql'))).toBe(isCreated);
});

describe('sources', () => {
  test('are never executed', async () => {
    const folder = project(orders);
    const proof = join(folder, 'executed');
    const attack = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(proof)}, '');\n`;
    writeFileSync(join(folder, 'models/attack.ts'), attack + thing('Attack'));
    expect((await run(folder)).diagnostics).toEqual([]);
    expect(existsSync(proof)).toBe(false);
  });

  test.each([
    ['a type', '('.repeat(9_000), ')'.repeat(9_000)],
    ['a type that only the checker knows', 'Partial<{ a: '.repeat(900), ' }>'.repeat(900)],
  ])('with %s that is nested too deeply are mistakes', async (_, start, end) => {
    const folder = project(orders);
    const field = `{ readonly a!: ${start}string${end}; }`;
    writeFileSync(join(folder, 'models/deep.ts'), thing('Deep').replace('{}', field));
    expect((await run(folder)).diagnostics.map(formatDiagnostic)).toEqual([
      'models/deep.ts FWGEN038 Cannot read: a type or an expression is nested too deeply\n' +
        '    Declare its parts by names.',
    ]);
  });

  test('may contain loops of symbolic links', async () => {
    const folder = project(orders);
    symlinkSync(folder, join(folder, 'models/loop'));
    expect((await run(folder)).diagnostics).toEqual([]);
  });

  test('in other folders are ignored', async () => {
    const folder = project(orders);
    for (const path of ['node_modules/x/a.ts', 'dist/a.ts', '.hidden/a.ts', 'a.test.ts', 'a.d.ts']) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), 'this is { no TypeScript @AutoBuilder class extends');
    }
    expect((await run(folder)).diagnostics).toEqual([]);
  });
});

describe('no file is written', () => {
  test('over a folder that has the name of a file', async () => {
    const folder = project(orders);
    await run(folder);
    writeFileSync(join(folder, 'models/extra.ts'), thing('Extra'));
    mkdirSync(join(folder, 'generated/extra.ts'));
    const before = emittedBy(folder);
    expect((await run(folder)).diagnostics.map(({ code }) => code)).toEqual(['FWGEN037']);
    expect(emittedBy(folder)).toEqual(before);
  });

  test('if the folder is a file', async () => {
    const folder = project(orders);
    writeFileSync(join(folder, 'generated'), 'a file');
    const { diagnostics } = await run(folder);
    expect(diagnostics.map(formatDiagnostic)).toEqual([
      'generated FWGEN038 Cannot write: EEXIST (mkdir). The files are unchanged\n' +
        '    The file generated blocks the path. Move it, or choose another path.',
    ]);
    expect(readFileSync(join(folder, 'generated'), 'utf8')).toBe('a file');
  });

  test('if the migrations folder is a broken link, which the message names', async () => {
    const folder = project(orders);
    rmSync(join(folder, 'migrations'), { recursive: true, force: true });
    symlinkSync(join(folder, 'nowhere/else'), join(folder, 'migrations'));
    const { diagnostics } = await run(folder);
    expect(diagnostics.map(formatDiagnostic)).toEqual([
      expect.stringContaining('migrations FWGEN038 Cannot write'),
    ]);
  });

  test('through a link that leads out of the project', async () => {
    const folder = project(orders);
    const outside = temporaryFolder(onTestFinished);
    symlinkSync(outside, join(folder, 'generated'));
    expect((await run(folder)).diagnostics.map(({ code }) => code)).toEqual(['FWGEN036']);
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('a run', () => {
  test.each([
    ['which no process can have', 4194305],
    ['of this process', process.pid],
  ])('is not blocked by one that died with an id %s', async (_, pid) => {
    const folder = project(orders);
    mkdirSync(join(folder, 'generated'));
    writeFileSync(join(folder, 'generated/.fw-gen.lock'), String(pid));
    // Another run was killed while it took the lock over.
    const turn = join(folder, 'generated/.fw-gen.lock.takeover');
    writeFileSync(turn, '');
    utimesSync(turn, 0, 0);
    expect((await run(folder)).diagnostics).toEqual([]);
  });
});

function run(folder: string): Promise<GenerateResult> {
  return generate({ ...foldersOf(folder), title: 'test', now: new Date('2026-03-01T09:00:00Z') });
}

function foldersOf(folder: string): Parameters<typeof generate>[0] {
  return {
    projectDirectory: folder,
    sourceDirectory: folder,
    outputDirectory: join(folder, 'generated'),
    migrationsDirectory: join(folder, 'migrations'),
  };
}

function thing(name: string): string {
  return [
    "import { AutoBuilder, type Id, Model } from 'fw-actions';",
    '@AutoBuilder',
    `export class ${name} extends Model<${name}, Id<${name}>, 'NEW'> {}`,
  ].join('\n');
}

function project(source: string, name = 'project'): string {
  const folder = join(temporaryFolder(onTestFinished), name);
  cpSync(source, folder, { recursive: true });
  return folder;
}

/** The path of the only migration that creates a table. */
function migrationOf(folder: string, table: string): string {
  const names = readdirSync(join(folder, 'migrations')).filter((name) =>
    name.endsWith(`_create_${table}.sql`),
  );
  expect(names).toHaveLength(1);
  return join(folder, 'migrations', names[0] ?? '');
}

function emittedBy(folder: string): Readonly<Record<string, string>> {
  const files = filesBelow(folder).filter((file) => /^(generated|migrations)[/]/.test(file));
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

async function inTimeZone<T>(zone: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
}
