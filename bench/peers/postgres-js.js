import postgres from 'postgres';
import { Stale } from '../lib/load.js';
import { actionRow, add, eventRow, POOL_SIZE } from './rows.js';

/** postgres.js with tagged templates; it prepares its statements by default. */
export async function open({ connection, withAction }) {
  const { host, port, user, password, database } = connection;
  const sql = postgres({ host, port, user, password, database, max: POOL_SIZE, transform: postgres.camel });
  return {
    deposit: (walletId, amount) => deposit(sql, { walletId, amount, withAction }),
    close: () => sql.end(),
  };
}

async function deposit(sql, { walletId, amount, withAction }) {
  const [wallet] = await sql`select * from wallets where id = ${walletId}`;
  const now = new Date();
  const balance = add(wallet.balance, amount);
  await sql.begin(async (tx) => {
    const { count } = await tx`
      update wallets set balance = ${balance}, version = version + 1, updated_date = ${now}
      where id = ${walletId} and version = ${wallet.version}`;
    if (count === 0) throw new Stale();
    const event = eventRow({ walletId, amount, balance, version: Number(wallet.version) + 1, now });
    await tx`insert into events ${tx({ ...event, payload: tx.json(event.payload) })}`;
    if (!withAction) return;
    const action = actionRow(event, { walletId, amount, now });
    await tx`insert into actions ${tx({ ...action, params: tx.json(action.params) })}`;
  });
}
