import { EntitySchema, MikroORM, OptimisticLockError } from '@mikro-orm/postgresql';
import { Stale } from '../lib/load.js';
import { actionRow, add, eventRow, POOL_SIZE } from './rows.js';

const id = { type: 'uuid', primary: true };
const instant = { type: 'datetime', columnType: 'timestamptz' };
const text = { type: 'text' };

const Wallet = new EntitySchema({
  name: 'Wallet',
  tableName: 'wallets',
  properties: {
    id,
    state: text,
    version: { type: 'integer', columnType: 'bigint', version: true },
    ownerId: { type: 'uuid' },
    currency: { type: 'character', length: 3 },
    balance: { type: 'decimal', precision: 19, scale: 4 },
    createdDate: instant,
    updatedDate: instant,
  },
});

const Event = new EntitySchema({
  name: 'Event',
  tableName: 'events',
  properties: {
    id,
    actionId: { type: 'uuid' },
    namespace: text,
    modelId: text,
    modelName: text,
    eventType: text,
    payload: { type: 'json', columnType: 'jsonb' },
    createdDate: instant,
    modelVersion: { type: 'integer', columnType: 'bigint' },
    eventVersion: { type: 'integer' },
  },
});

const Action = new EntitySchema({
  name: 'Action',
  tableName: 'actions',
  properties: {
    id,
    status: text,
    namespace: text,
    name: text,
    principal: text,
    startedDate: instant,
    completedDate: instant,
    params: { type: 'json', columnType: 'jsonb' },
  },
});

/** MikroORM: one unit of work per deposit, flushed with its own optimistic locking. */
export async function open({ connection, withAction }) {
  const { host, port, user, password, database } = connection;
  const orm = await MikroORM.init({
    host,
    port,
    user,
    password,
    dbName: database,
    entities: [Wallet, Event, Action],
    pool: { min: 0, max: POOL_SIZE },
    discovery: { warnWhenNoEntities: false },
  });
  return {
    deposit: (walletId, amount) => deposit(orm.em.fork(), { walletId, amount, withAction }),
    close: () => orm.close(),
  };
}

async function deposit(em, { walletId, amount, withAction }) {
  const wallet = await em.findOneOrFail(Wallet, walletId);
  const now = new Date();
  wallet.balance = add(wallet.balance, amount);
  wallet.updatedDate = now;
  const { balance } = wallet;
  const event = eventRow({ walletId, amount, balance, version: Number(wallet.version) + 1, now });
  em.create(Event, event);
  if (withAction) em.create(Action, actionRow(event, { walletId, amount, now }));
  try {
    await em.flush();
  } catch (error) {
    throw error instanceof OptimisticLockError ? new Stale() : error;
  }
}
