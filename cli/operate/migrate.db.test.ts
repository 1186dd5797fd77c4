import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ShardingTopology } from '../../runtime/config/index.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject, FIVE } from '../test-support/cli-project.js';
import { withRefusedWrites } from '../test-support/refused-writes.js';

const cli = cliProject();
const fwGen = cli.run;

const migrationFile = (name: string, sql: string): void => cli.write(`src/migrations/${name}.sql`, sql);

const MODEL = `import { AutoBuilder, Model, ShardedId, Decimal } from 'fw-actions';
@AutoBuilder({ table: 'things' })
export class Thing extends Model<Thing, ShardedId<Thing>, 'OPEN'> {
  readonly title!: string;
  readonly price!: Decimal;
}
`;
const TABLE = `create table things (id uuid primary key check (eventlog.is_own_id(id)), state text not null,
  version bigint not null, title text not null, price numeric(19,4) not null,
  created_date timestamptz not null, updated_date timestamptz not null)`;

function project(topology: ShardingTopology, model = MODEL): void {
  cli.write('src/thing.ts', model);
  cli.configure(topology);
}

describeOn('postgresql', 'fw-gen migrate', (harness) => {
  const empty = () => harness.makeTopology({ shards: FIVE, migrated: false });

  test('migrates five shards to one schema, and shows its progress', async () => {
    project(await empty());
    migrationFile('0001_things', TABLE);
    const before = await fwGen('migrate', 'status');
    expect(before.code).toBe(1);
    expect(before.info).toContain('SHARD   NAME       STATE    APPLIED  PENDING  DETAIL');
    expect(before.info.match(/pending/g)).toHaveLength(5);
    const plan = await fwGen('migrate', 'up', '--dry-run');
    expect(plan.code).toBe(1);
    expect(plan.info).toContain('-- 0001_things (application), on 5 of 5 shards\ncreate table things');
    expect((await fwGen('migrate', 'status')).info).toBe(before.info);
    const up = await fwGen('migrate', 'up', '--parallel', '2');
    expect(up.code).toBe(0);
    expect(up.error).toMatch(/^\[1\/5\] \(\d, \d\) \d+ applied, \d+ ms\n/);
    expect(up.error).toContain('[5/5]');
    expect(up.info.match(/done$/gm)).toHaveLength(5);
    expect((await fwGen('migrate', 'status')).code).toBe(0);
    expect(await fwGen('migrate', 'verify')).toMatchObject({
      code: 0,
      info: expect.stringContaining('No drift.'),
    });
  });

  test('continues with the other shards when one fails, and applies that one on the next run', async () => {
    project(await empty());
    migrationFile('0001_things', TABLE);
    await cli.rows('create table things (id int4)', FIVE[2]);
    const failed = await fwGen('migrate', 'up', '--format', 'json');
    expect(failed.code).toBe(1);
    const { shards } = JSON.parse(failed.info) as { shards: readonly { shard: string; error?: string }[] };
    expect(shards.filter(({ error }) => error !== undefined)).toMatchObject([
      { shard: '(1, 0)', error: expect.stringContaining('0001_things failed on shard (1, 0)') },
    ]);
    await cli.rows('drop table things', FIVE[2]);
    const again = await fwGen('migrate', 'up');
    expect(again.code).toBe(0);
    expect(again.info).toMatch(/\(0, 0\) +\S+ +0 +done/);
    expect(again.info).toMatch(/\(1, 0\) +\S+ +1 +done/);
  });

  test('a text that fails on one shard names what that shard has applied before, and can be replaced', async () => {
    project(await empty());
    migrationFile('0001_things', 'create table pairs (a int4, b int4)');
    migrationFile('0002_pairs', 'insert into pairs values (1, 1)');
    expect((await fwGen('migrate', 'up')).code).toBe(0);
    await cli.rows('insert into pairs values (1, 1)', FIVE[2]);
    migrationFile('0003_note', 'alter table pairs add column note text;');
    migrationFile('0004_key', 'create unique index pairs_key on pairs (a, b);');
    const failed = await fwGen('migrate', 'up');
    expect(failed.code).toBe(1);
    expect(failed.info).toMatch(
      /^\(1, 0\) +\S+ +1 +Migration 0004_key failed .*pairs_key.*0004_key\.sql:1\)$/m,
    );
    expect(failed.error).toMatch(/\(1, 0\) 1 applied, then failed: Migration 0004_key/);
    expect(failed.info.match(/ 2 +done$/gm)).toHaveLength(4);
    const mended =
      'delete from pairs using pairs as other where pairs = other and pairs.ctid > other.ctid;\n' +
      'create unique index pairs_key on pairs (a, b);';
    migrationFile('0004_key', mended);
    const changed = await fwGen('migrate', 'up');
    const [, former] = /0004_key was changed .* had the checksum ([0-9a-f]{12})/.exec(changed.info) ?? [];
    expect([changed.code, former]).toEqual([1, expect.any(String)]);
    migrationFile('0004_key', `-- fw-gen: replaces ${former}\n${mended}`);
    const replaced = await fwGen('migrate', 'up');
    expect([replaced.code, replaced.info.match(/ 0 +done$/gm)?.length]).toEqual([0, 5]);
    expect((await fwGen('migrate', 'status')).code).toBe(0);
    migrationFile('0004_key', `-- fw-gen: replaces 0123456789ab\n${mended}`);
    expect((await fwGen('migrate', 'status')).info.match(/0004_key was changed/g)).toHaveLength(4);
  });

  test('reports file and line of a refused statement', async () => {
    project(await empty());
    migrationFile('0001_things', TABLE);
    const index =
      '-- fw-gen: no transaction\r\ncreate index concurrently things_title on things (title);\r\n';
    migrationFile('0002_index', index);
    migrationFile(
      '0003_two',
      '-- Two at once.\nalter table things add column a text;\nalter table thongs add b text;\n',
    );
    const failed = await fwGen('migrate', 'up');
    expect(failed.code).toBe(1);
    expect(
      failed.info.match(/relation "thongs" does not exist \(src\/migrations\/0003_two\.sql:3\)/g),
    ).toHaveLength(5);
    const status = await fwGen('migrate', 'status');
    expect(status.info.match(/next 0003_two/g)).toHaveLength(5);
    migrationFile('0003_two', 'alter table things add column a text;\nalter table things add b text;\n');
    expect((await fwGen('migrate', 'up')).info.match(/ 1 +done$/gm)).toHaveLength(5);
    expect((await fwGen('migrate', 'verify')).code).toBe(0);
    // Changed line ends are not a change; changed text is.
    migrationFile('0002_index', index.replaceAll('\r', ''));
    expect((await fwGen('migrate', 'status')).code).toBe(0);
    migrationFile('0002_index', index.replace('(title)', '(price)'));
    const changed = await fwGen('migrate', 'up');
    expect(changed.code).toBe(1);
    expect(changed.info).toContain('Shard (0, 0): 0002_index was changed after it had been applied');
    migrationFile('0002_index', '-- fw-gen: transaction\nselect 1');
    const misread = await fwGen('migrate', 'status');
    expect(misread.code).toBe(2);
    expect(misread.error).toContain('src/migrations/0002_index.sql:1:1 FWGEN035');
  });

  test('verify finds drift between shards and between models and tables', async () => {
    project(await empty());
    migrationFile('0001_things', TABLE);
    await fwGen('migrate', 'up');
    await cli.rows('alter table things drop column title', FIVE[3]);
    const { code, info } = await fwGen('migrate', 'verify');
    expect(code).toBe(1);
    expect(info).toContain(
      '(1, 1) differs from most shards: it lacks column public.things.title text not null',
    );
    expect(info).toContain('(1, 1) does not match the models: column things.title does not exist');
    const json: unknown = JSON.parse((await fwGen('migrate', 'verify', '--format', 'json')).info);
    expect(json).toMatchObject({ drift: [{ shard: '(1, 1)' }] });
  });

  test('ends with 2 for unreadable migrations, and with 1 for an unreachable shard', async () => {
    project(await empty());
    cli.write('src/migrations/0001_x.ts', "throw new Error('executed')");
    const { code, error } = await fwGen('migrate', 'status');
    expect(code).toBe(2);
    expect(error).toContain('src/migrations/0001_x.ts FWGEN035 A migration is plain SQL');
    rmSync(join(cli.folder, 'src/migrations/0001_x.ts'));
    migrationFile('0001_x', 'create table x (id int4)');
    cli.edit((text) => text.replace(/(\/fw_test_\w+)/, '/fw_test_nowhere'));
    const gone = await fwGen('migrate', 'status');
    expect(gone.code).toBe(1);
    expect(gone.info).toContain('unreachable');
    expect((await fwGen('migrate', 'status', '--parallel', '0')).code).toBe(2);
  });
});

describe('fw-gen migrate diff', () => {
  const withModel = (model: string): void => {
    configureEmbedded(['none']);
    cli.write('src/thing.ts', model);
    migrationFile('0001_things', TABLE);
  };
  const files = () => readdirSync(join(cli.folder, 'src/migrations'));

  test('writes a migration that changes the tables to match the models', async () => {
    withModel(MODEL.replace('price!: Decimal', 'price!: Decimal;\n  readonly note?: string'));
    const shown = await fwGen('migrate', 'diff', '--dry-run');
    expect(shown.info).toContain('alter table things add column note text;');
    expect(files()).toEqual(['0001_things.sql']);
    const written = await fwGen('migrate', 'diff', '--name', 'add_note');
    expect(written).toMatchObject({
      code: 0,
      info: expect.stringMatching(/src\/migrations\/\d{14}_add_note\.sql written/),
    });
    expect((await fwGen('migrate', 'diff')).info).toContain('nothing to do');
  });

  test('--check ends with 1 while a migration is missing, and writes nothing', async () => {
    withModel(MODEL);
    const nothing = 'The migrations match the models';
    expect(await fwGen('migrate', 'diff')).toMatchObject({ code: 0, info: `${nothing}: nothing to do.` });
    expect(await fwGen('migrate', 'diff', '--check')).toMatchObject({ code: 0, info: `${nothing}.` });
    cli.write('src/thing.ts', MODEL.replace('price!: Decimal', 'price!: Decimal;\n  readonly note?: string'));
    const missing = await fwGen('migrate', 'diff', '--check');
    expect(missing.code).toBe(1);
    expect(missing.error).toContain('missing: alter table things add column note text');
    expect(missing.error).toContain('Run `fw-gen migrate diff`');
    // A change that diff refuses to write without permission is missing too.
    cli.write('src/thing.ts', MODEL.replace('price!: Decimal', 'price!: string'));
    const refused = await fwGen('migrate', 'diff', '--check');
    expect([refused.code, refused.error]).toEqual([1, expect.stringContaining('things.price')]);
    expect(files()).toEqual(['0001_things.sql']);
  });

  test('reports why a migration cannot be read or written', async () => {
    withModel(MODEL.replace('price!: Decimal', 'price?: Decimal'));
    const full = { code: 'ENOSPC', syscall: 'write' };
    const refused = await withRefusedWrites(
      (path) => (path.endsWith('_change.sql') ? Object.assign(new Error('no space left'), full) : undefined),
      () => fwGen('migrate', 'diff'),
    );
    expect(refused.code).toBe(2);
    expect(refused.error.replace(/\d{14}/, 'T')).toBe(
      `Cannot write ${join(cli.folder, 'src/migrations/T_change.sql')}: ENOSPC (write). Check free space and permissions.`,
    );
    expect(files()).toEqual(['0001_things.sql']);
    symlinkSync(join(cli.folder, 'nowhere'), join(cli.folder, 'src/migrations/0002_change.sql'));
    expect(await fwGen('migrate', 'diff')).toMatchObject({
      code: 2,
      error: expect.stringContaining('src/migrations/0002_change.sql FWGEN038 Cannot read: ENOENT'),
    });
  });

  test('refuses to lose data without a flag, and writes nothing', async () => {
    withModel(MODEL.replace('  readonly title!: string;\n', '').replace('price!: Decimal', 'price!: string'));
    const refused = await fwGen('migrate', 'diff');
    expect(refused.code).toBe(2);
    expect(refused.error).toContain('things.price is numeric(19,4)');
    expect(refused.error).toContain('Nothing was written.');
    expect(files()).toEqual(['0001_things.sql']);
    withModel(MODEL.replace('  readonly title!: string;\n', ''));
    const kept = await fwGen('migrate', 'diff', '--dry-run');
    expect(kept.info).toContain('alter column title drop not null;');
    expect(kept.error).toContain('no model has the column things.title; it is kept');
    const confirmed = await fwGen('migrate', 'diff', '--drop', 'things.title');
    expect(confirmed.code).toBe(0);
    expect((await fwGen('migrate', 'up')).code).toBe(0);
    expect((await fwGen('migrate', 'verify')).code).toBe(0);
  });

  test('refuses to fill an enum with a text that is none of its values', async () => {
    withModel(MODEL.replace('price!: Decimal', "price!: Decimal;\n  readonly size!: 'S' | 'M'"));
    const filled = (value: string) =>
      fwGen('migrate', 'diff', '--dry-run', '--backfill', `things.size='${value}'`);
    expect(await filled('XL')).toMatchObject({
      code: 2,
      error: expect.stringContaining("things.size cannot be 'XL'"),
    });
    expect((await filled('M')).info).toContain("default ('M')");
    const unquoted = await fwGen('migrate', 'diff', '--backfill', 'things.size=M');
    expect(unquoted.error).toContain("a text has quotes: 'en'");
  });

  test('reports what fails on the tables as they are, and what no model has', async () => {
    withModel(MODEL.replace('readonly price!', '/** @numeric 30,8 */ readonly price!'));
    migrationFile('0002_cheap', 'create view cheap as select id from things where price < 10;');
    const written = files();
    expect(await fwGen('migrate', 'diff')).toMatchObject({
      code: 2,
      error: expect.stringMatching(/The migration would fail: .*view.* Write it yourself/),
    });
    expect(files()).toEqual(written);
    cli.write('src/thing.ts', MODEL);
    migrationFile('0003_create_gone', 'create table gone (id uuid primary key);');
    expect(await fwGen('migrate', 'diff')).toMatchObject({
      code: 0,
      error: expect.stringContaining('no model has the table gone'),
    });
    migrationFile('0004_bad', 'alter table things add column x txet;');
    expect(await fwGen('migrate', 'diff')).toMatchObject({
      code: 2,
      error: expect.stringMatching(/^Migration 0004_bad failed .*txet/),
    });
  });
});

/** A configuration with embedded databases in these folders. */
function configureEmbedded(folders: readonly string[]): void {
  const members = folders.map((name, member) => ({
    ...{ member, name },
    configs: { primaryConfig: { jdbcUrl: `jdbc:pglite:file:${join(cli.folder, name)}` } },
  }));
  const generator = { source: 'src', output: 'src/generated', migrations: 'src/migrations' };
  const groups = [{ group: 0, name: 'group', members }];
  const sharding = { defaultShard: { group: 0, member: 0 }, groups };
  cli.write('fw.config.yaml', JSON.stringify({ fw: { namespace: 'test', generator, sharding } }));
}

test('fw-gen migrate warns once that embedded databases may lose writes', async () => {
  configureEmbedded(['m0', 'm1']);
  const { error } = await cli.run('migrate', 'status');
  expect(error.match(/power loss/g)).toHaveLength(1);
});
