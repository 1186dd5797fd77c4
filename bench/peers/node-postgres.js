import pg from 'pg';
import { Stale } from '../lib/load.js';
import { actionRow, add, eventRow, POOL_SIZE } from './rows.js';
import {
  actionValues,
  eventValues,
  INSERT_ACTION,
  INSERT_EVENT,
  SELECT_WALLET,
  UPDATE_WALLET,
} from './sql.js';

/**
 * By hand, as most services are written: SELECT, then BEGIN, UPDATE, INSERT, COMMIT with unnamed statements.
 *
 * @param pauseMs returns the pause before another attempt, instead of the load's backoff
 */
export async function open({ connection, withAction, pauseMs }) {
  const pool = new pg.Pool({ ...connection, max: POOL_SIZE });
  pool.on('error', () => {});
  return {
    pauseMs,
    deposit: (walletId, amount) => deposit(pool, { walletId, amount, withAction }),
    close: () => pool.end(),
  };
}

/** Returns the wallet's row after the deposit. */
export async function deposit(pool, { walletId, amount, withAction }) {
  const client = await pool.connect();
  let failure;
  try {
    return await depositOn(client, { walletId, amount, withAction });
  } catch (error) {
    failure = error instanceof Stale ? undefined : error;
    throw error;
  } finally {
    client.release(failure);
  }
}

async function depositOn(client, { walletId, amount, withAction }) {
  const { rows } = await client.query(SELECT_WALLET, [walletId]);
  const [wallet] = rows;
  const now = new Date();
  const balance = add(wallet.balance, amount);
  const version = Number(wallet.version) + 1;
  await client.query('BEGIN');
  try {
    const { rowCount } = await client.query(UPDATE_WALLET, [balance, now, walletId, wallet.version]);
    if (rowCount === 0) throw new Stale();
    const event = eventRow({ walletId, amount, balance, version, now });
    await client.query(INSERT_EVENT, eventValues(event));
    if (withAction) {
      await client.query(INSERT_ACTION, actionValues(actionRow(event, { walletId, amount, now })));
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
  return { ...wallet, balance, version, updated_date: now };
}
