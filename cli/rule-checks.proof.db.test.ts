import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { sqlPattern } from '../generator/schema/sql-pattern.js';
import type { ShardingTopology } from '../runtime/config/index.js';
import { uuid7 } from '../runtime/domain/id-source.js';
import { ShardIdentifier } from '../runtime/domain/shard-identifier.js';
import { DriverFailure } from '../runtime/sharding/driver-failure.js';
import { publicError } from '../runtime/sharding/public-error.js';
import { describeOn } from '../test/databases/vitest.js';
import { cliProject } from './test-support/cli-project.js';

vi.setConfig({ testTimeout: 120_000 });

const HERE = ShardIdentifier.of(0, 0);
const MIGRATIONS = 'src/migrations';
const cli = cliProject();
const fwGen = cli.run;

/** The sources, with or without check constraints for rules. */
function model(checks: boolean, titleLength = 5): void {
  cli.write(
    'src/thing.ts',
    `import { AutoBuilder, type Decimal, Model, type ShardedId } from 'fw-actions';
@AutoBuilder({ checks: ${checks} })
export class Thing extends Model<Thing, ShardedId<Thing>, 'OPEN'> {
  /** @maxLength ${titleLength} */
  readonly title!: string;
  /** @minimum 0 */
  readonly price!: Decimal;
  /** @pattern ^[A-Z]{2}$ */
  readonly code?: string;
  /** @maxItems 2 */
  readonly tags?: readonly string[];
}
`,
  );
}

const TABLE = `create table things (id uuid primary key check (eventlog.is_own_id(id)), state text not null,
  version bigint not null, title text not null, price numeric(19,4) not null, code text,
  created_date timestamptz not null, updated_date timestamptz not null, tags jsonb)`;

function project(topology: ShardingTopology): void {
  cli.write(`${MIGRATIONS}/0001_things.sql`, TABLE);
  cli.configure(topology);
  model(false);
}

/** The text of the only migration with this title. */
function textOf(title: string): string {
  const pattern = new RegExp(`^\\d{14}_${title}\\.ts$`);
  const names = readdirSync(join(cli.folder, MIGRATIONS)).filter((name) => pattern.test(name));
  expect(names).toHaveLength(1);
  return readFileSync(join(cli.folder, MIGRATIONS, names[0] ?? ''), 'utf8');
}

function insert(title: string, price: number, code: string): Promise<unknown> {
  const values = `'${uuid7.next(HERE.bits)}', 'OPEN', 1, '${title}', ${price}, '${code}', now(), now()`;
  return cli.rows(`insert into things values (${values})`);
}

describeOn('postgresql', 'Rules that the database checks', (harness) => {
  const empty = (): Promise<ShardingTopology> => harness.makeTopology({ shards: [HERE], migrated: false });

  test('are added without a scan of the rows, then validated, and follow the sources', async () => {
    project(await empty());
    expect(await fwGen('migrate', 'diff', '--check')).toMatchObject({ code: 0 });
    expect(await fwGen('migrate', 'up')).toMatchObject({ code: 0 });
    await insert('right', 1, 'AB');
    model(true);
    const missing = await fwGen('migrate', 'diff', '--check');
    expect([missing.code, missing.error]).toEqual([1, expect.stringContaining('rule_things_price_minimum_')]);
    expect(await fwGen('migrate', 'diff', '--name', 'rules')).toMatchObject({ code: 0 });
    expect(textOf('rules').match(/check \(.*\) not valid;/g)).toHaveLength(4);
    expect(textOf('validate_rules').match(/validate constraint/g)).toHaveLength(4);
    expect(await fwGen('migrate', 'up')).toMatchObject({ code: 0 });
    expect(await fwGen('migrate', 'diff', '--check')).toMatchObject({ code: 0 });

    await insert('äöüß€', 0, 'XY');
    for (const [title, price, code, rule] of [
      ['longer', 1, 'AB', 'title_max_length'],
      ['title', -1, 'AB', 'price_minimum'],
      ['title', 1, 'Ab', 'code_pattern'],
    ] as const) {
      const failure: unknown = await insert(title, price, code).catch((error: unknown) => error);
      if (!(failure instanceof DriverFailure)) throw new Error('It was not refused', { cause: failure });
      expect(publicError(failure, HERE)).toMatchObject({
        code: 'FW_CONSTRAINT_VIOLATION',
        table: 'things',
        message: expect.stringMatching(`^A row of things breaks the rule ${rule}, which the database checks`),
      });
    }

    const many = cli.rows(`update things set tags = '["a","b","c"]', version = version + 1`);
    await expect(many).rejects.toMatchObject({ constraint: expect.stringContaining('tags_max_items') });

    model(true, 6);
    expect(await fwGen('migrate', 'diff', '--name', 'longer')).toMatchObject({ code: 0 });
    expect(textOf('longer')).toMatch(
      /add constraint rule_things_title_max_length_\w+ check \(char_length\(title\) <= 6\)/,
    );
    expect(textOf('longer')).toMatch(/drop constraint rule_things_title_max_length_/);
    expect(await fwGen('migrate', 'up')).toMatchObject({ code: 0 });
    await insert('longer', 1, 'AB');
    model(false);
    expect((await fwGen('migrate', 'diff', '--dry-run')).info.match(/drop constraint rule_/g)).toHaveLength(
      4,
    );
  });

  test('bind new rows while existing ones violate them, and name the rule', async () => {
    project(await empty());
    await fwGen('migrate', 'up');
    await insert('right', -5, 'AB');
    model(true);
    await fwGen('migrate', 'diff');
    const { code, info } = await fwGen('migrate', 'up');
    expect([code, info]).toEqual([
      1,
      expect.stringMatching(/rule_things_price_minimum_\w+.* is violated by some row/),
    ]);
    await expect(insert('right', -5, 'AB')).rejects.toMatchObject({
      constraint: expect.stringContaining('price_minimum'),
    });
    await cli.rows('update things set price = 0, version = version + 1 where price < 0');
    expect(await fwGen('migrate', 'up')).toMatchObject({ code: 0 });
    expect(readdirSync(join(cli.folder, MIGRATIONS))).toHaveLength(3);
  });

  test('match the texts that patterns match in JavaScript', async () => {
    const patterns = [
      ...['^[A-Z]{2}$', '^\\d+$', '[\\w.-]+@x\\.y', '^(?:a|b)?.$', '^[^\\d/]*$', '^\\W\\D$'],
      ...['[[a]', "it's", '\\$|\\^'],
    ];
    const texts = [
      ...['AB', 'Ab', 'ABC', '42', '４２', 'me.1@x.y', 'me@xzy', 'a', 'ab', 'a\n', '\n'],
      ...['-x', 'é!', '[', "it's", '$', 'AB\n'],
    ];
    const pairs = patterns.flatMap((pattern) => texts.map((text) => ({ pattern, text })));
    const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
    const rows = pairs.map(
      ({ pattern, text }, nr) => `(${nr}, ${literal(text)} ~ ${literal(sqlPattern(pattern) ?? '')})`,
    );
    project(await empty());
    const found = await cli.rows(`select * from (values ${rows.join(', ')}) as t(nr, matches) order by nr`);
    const differences = pairs.filter(
      ({ pattern, text }, nr) => found[nr]?.[1] !== new RegExp(pattern, 'u').test(text),
    );
    expect(differences).toEqual([]);
  });
});
