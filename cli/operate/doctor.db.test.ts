import { beforeEach, expect, test } from 'vitest';
import { uuid7 } from '../../runtime/domain/id-source.js';
import { ShardIdentifier } from '../../runtime/domain/shard-identifier.js';
import { describeOn } from '../../test/databases/vitest.js';
import { cliProject, FIVE } from '../test-support/cli-project.js';

const things = {
  name: '0001_things',
  up: `create table things (id uuid primary key check (eventlog.is_own_id(id)), state text not null,
  version bigint not null, title text not null, created_date timestamptz not null, updated_date timestamptz not null)`,
};

const project = cliProject();

beforeEach(() => {
  project.write(
    'src/thing.ts',
    `import { AutoBuilder, Model, ShardedId } from 'fw-actions';
@AutoBuilder({ table: 'things' })
export class Thing extends Model<Thing, ShardedId<Thing>, 'OPEN'> {
  readonly title!: string;
}
`,
  );
  project.write('src/migrations/0001_things.sql', things.up);
});

interface FoundJson {
  readonly subject: string;
  readonly check: string;
  readonly level: string;
  readonly found: string;
}

const doctor = (...argv: readonly string[]) => project.run('doctor', ...argv);

async function findings(): Promise<{ readonly code: number; readonly found: readonly FoundJson[] }> {
  const { code, info } = await doctor('--format', 'json');
  return { code, found: (JSON.parse(info) as { findings: readonly FoundJson[] }).findings };
}

describeOn('postgresql', 'fw-gen doctor', (harness) => {
  beforeEach(async () =>
    project.configure(await harness.makeTopology({ shards: FIVE, migrations: [things] })),
  );

  test('reports no problem for five healthy shards', async () => {
    const { code, info } = await doctor();
    expect(info).toContain('\n0 faults, ');
    expect(code).toBe(0);
    for (const check of 'connection version durability clock rights residency migrations'.split(' '))
      expect(info.match(new RegExp(`^\\(\\d, \\d\\) +${check} `, 'gm'))).toHaveLength(5);
    expect(info).toMatch(/^127\.0\.0\.1:\d+ +connections +\S+ +one process may open 50; the server has 197/m);
    expect(info).not.toContain('fw_test_password');
  });

  test('reports rows of another shard, two swapped databases, pending migrations and drift', async () => {
    const [, stranger, swapped, behind, drifted] = FIVE;
    const id = uuid7.next(ShardIdentifier.of(9, 9).bits);
    await project.rows('alter table things drop constraint things_id_check', stranger);
    await project.rows(`insert into things values ('${id}', 'OPEN', 1, 'x', now(), now())`, stranger);
    await project.rows('update eventlog.shard set group_number = 7', swapped);
    await project.rows("delete from eventlog.migration_checksums where name = '0001_things'", behind);
    await project.rows('alter table things drop column title', drifted);
    await project.rows(
      `do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`,
      drifted,
    );
    const { code, found } = await findings();
    expect(code).toBe(1);
    const faults = found.filter(({ level }) => level === 'fault');
    expect(faults.map(({ subject, check, found: what }) => `${subject} ${check}: ${what}`).sort()).toEqual([
      `(0, 1) residency: things holds ids of other shards: ${id}`,
      '(1, 0) residency: the database is shard (7, 0)',
      '(1, 1) migrations: 1 pending',
      '(1, 2) drift: column things.title does not exist; the model requires text',
      '(1, 2) durability: synchronous_commit off',
    ]);
  });

  test('reports the fault of a connection and checks the other shards', async () => {
    project.edit((text) => text.replace('"password": "fw_test_password"', '"password": "wrong"'));
    const { code, found } = await findings();
    expect(code).toBe(1);
    const [first] = found;
    expect(first).toMatchObject({ subject: '(0, 0)', check: 'connection', level: 'fault' });
    expect(JSON.stringify(first)).toContain('pg_hba.conf');
    expect(found.filter(({ check, level }) => check === 'connection' && level === 'ok')).toHaveLength(4);
  });

  test('compares pools and budget with the server’s limit', async () => {
    const ours = ({ found }: { readonly found: readonly FoundJson[] }) =>
      found.find(({ check }) => check === 'connections');
    project.edit((text) => text.replaceAll('"username"', '"maximumPoolSize": 100, "username"'));
    expect(ours(await findings())).toMatchObject({
      level: 'fault',
      found: expect.stringMatching(/one process may open 500; the server has 197/),
    });
    project.edit((text) => text.replace('"groups"', '"maximumConnections": 20, "groups"'));
    expect(ours(await findings())).toMatchObject({
      found: expect.stringContaining('one process may open 20'),
    });
  });
});
