import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { Stale } from '../lib/load.js';
import { actionRow, add, eventRow, POOL_SIZE } from './rows.js';

/** Kysely's query builder on node-postgres. */
export async function open({ connection, withAction }) {
  const pool = new pg.Pool({ ...connection, max: POOL_SIZE });
  const db = new Kysely({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
  return {
    deposit: (walletId, amount) => deposit(db, { walletId, amount, withAction }),
    close: () => db.destroy(),
  };
}

async function deposit(db, { walletId, amount, withAction }) {
  const wallet = await db
    .selectFrom('wallets')
    .selectAll()
    .where('id', '=', walletId)
    .executeTakeFirstOrThrow();
  const now = new Date();
  const balance = add(wallet.balance, amount);
  const version = Number(wallet.version) + 1;
  await db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('wallets')
      .set({ balance, version, updatedDate: now })
      .where('id', '=', walletId)
      .where('version', '=', wallet.version)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Stale();
    const event = eventRow({ walletId, amount, balance, version, now });
    await trx.insertInto('events').values(event).execute();
    if (!withAction) return;
    await trx.insertInto('actions').values(actionRow(event, { walletId, amount, now })).execute();
  });
}
