import { expect, it } from 'vitest';
import { migrate } from '../../runtime/migration/migrate.js';
import { describeOn } from '../../test/databases/vitest.js';
import { renameSql } from './rename-sql.js';

describeOn('pglite', 'The rename of a column', (harness) => {
  it('keeps a check of another column, which once had the new name', async () => {
    const registry = await harness.makeShards();
    const rename = { table: 'accounts', from: 'fee', to: 'amount' };
    const column = { type: 'numeric(19,4)', nullable: true, refusesNaN: true };
    const amount = "create table accounts (id uuid, fee numeric, amount numeric check (amount <> 'NaN'))";
    const migrations = [
      { name: '0001_accounts', up: `${amount}; alter table accounts rename column amount to balance` },
      { name: '0002_begin', up: `-- fw-gen: no transaction\n${renameSql('begin', rename, column)}` },
    ];
    await migrate(registry, { migrations });
    const insert = (name: string) =>
      registry.database(registry.defaultShard).query({
        text: `insert into accounts (${name}) values ('NaN')`,
        values: [],
      });
    await expect(insert('amount')).rejects.toThrow('violates check constraint');
    await expect(insert('balance')).rejects.toThrow('violates check constraint');
  });

  it.each(
    'all begin by case declare else end execute for foreach if in into loop strict then while'.split(' '),
  )('keeps both columns equal if one is named %s', async (word) => {
    const registry = await harness.makeShards();
    const query = async (text: string) =>
      (await registry.database(registry.defaultShard).query({ text, values: [] })).rows;
    const column = { type: 'integer', nullable: true, refusesNaN: false };
    const begins = [
      { table: 'notes', from: word, to: 'plain' },
      { table: 'tags', from: 'plain', to: word },
    ];
    const migrations = begins.flatMap((rename, index) => [
      { name: `000${index}_a_table`, up: `create table ${rename.table} (id uuid, "${rename.from}" integer)` },
      { name: `000${index}_b_begin`, up: `-- fw-gen: no transaction\n${renameSql('begin', rename, column)}` },
    ]);
    await migrate(registry, { migrations });
    for (const { table } of begins) {
      await query(`insert into ${table} (plain) values (1)`);
      await query(`update ${table} set plain = 2`);
      expect(await query(`select "${word}" from ${table}`)).toEqual([[2]]);
    }
  });
});
