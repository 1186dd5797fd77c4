import { and, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, char, integer, jsonb, numeric, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { Stale } from '../lib/load.js';
import { actionRow, add, eventRow, POOL_SIZE } from './rows.js';

const instant = (name) => timestamp(name, { withTimezone: true });

const wallets = pgTable('wallets', {
  id: uuid('id').primaryKey(),
  state: text('state').notNull(),
  version: bigint('version', { mode: 'number' }).notNull(),
  ownerId: uuid('owner_id').notNull(),
  currency: char('currency', { length: 3 }).notNull(),
  balance: numeric('balance', { precision: 19, scale: 4 }).notNull(),
  createdDate: instant('created_date').notNull(),
  updatedDate: instant('updated_date').notNull(),
});

const events = pgTable('events', {
  id: uuid('id').primaryKey(),
  actionId: uuid('action_id').notNull(),
  namespace: text('namespace').notNull(),
  modelId: text('model_id').notNull(),
  modelName: text('model_name').notNull(),
  eventType: text('event_type').notNull(),
  payload: jsonb('payload').notNull(),
  createdDate: instant('created_date').notNull(),
  modelVersion: bigint('model_version', { mode: 'number' }).notNull(),
  eventVersion: integer('event_version').notNull(),
});

const actions = pgTable('actions', {
  id: uuid('id').primaryKey(),
  status: text('status').notNull(),
  namespace: text('namespace'),
  name: text('name'),
  principal: text('principal'),
  startedDate: instant('started_date'),
  completedDate: instant('completed_date'),
  params: jsonb('params'),
});

/** Drizzle on node-postgres. */
export async function open({ connection, withAction }) {
  const pool = new pg.Pool({ ...connection, max: POOL_SIZE });
  const db = drizzle(pool);
  return {
    deposit: (walletId, amount) => deposit(db, { walletId, amount, withAction }),
    close: () => pool.end(),
  };
}

async function deposit(db, { walletId, amount, withAction }) {
  const [wallet] = await db.select().from(wallets).where(eq(wallets.id, walletId));
  const now = new Date();
  const balance = add(wallet.balance, amount);
  const version = wallet.version + 1;
  await db.transaction(async (tx) => {
    const { rowCount } = await tx
      .update(wallets)
      .set({ balance, version, updatedDate: now })
      .where(and(eq(wallets.id, walletId), eq(wallets.version, wallet.version)));
    if (rowCount === 0) throw new Stale();
    const event = eventRow({ walletId, amount, balance, version, now });
    await tx.insert(events).values(event);
    if (withAction) await tx.insert(actions).values(actionRow(event, { walletId, amount, now }));
  });
}
