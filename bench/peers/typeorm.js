import { DataSource, EntitySchema } from 'typeorm';
import { Stale } from '../lib/load.js';
import { actionRow, add, eventRow, POOL_SIZE } from './rows.js';

/** @typedef {import('typeorm').EntitySchemaColumnOptions} Column */

/** @type {(name: string, type: Column['type'], more?: Partial<Column>) => Column} */
const column = (name, type, more = {}) => ({ name, type, ...more });
/** @type {Column} */
const id = { type: 'uuid', primary: true };

const Wallet = new EntitySchema({
  name: 'Wallet',
  tableName: 'wallets',
  columns: {
    id,
    state: column('state', 'text'),
    version: column('version', 'bigint'),
    ownerId: column('owner_id', 'uuid'),
    currency: column('currency', 'char', { length: 3 }),
    balance: column('balance', 'numeric', { precision: 19, scale: 4 }),
    createdDate: column('created_date', 'timestamptz'),
    updatedDate: column('updated_date', 'timestamptz'),
  },
});

const Event = new EntitySchema({
  name: 'Event',
  tableName: 'events',
  columns: {
    id,
    actionId: column('action_id', 'uuid'),
    namespace: column('namespace', 'text'),
    modelId: column('model_id', 'text'),
    modelName: column('model_name', 'text'),
    eventType: column('event_type', 'text'),
    payload: column('payload', 'jsonb'),
    createdDate: column('created_date', 'timestamptz'),
    modelVersion: column('model_version', 'bigint'),
    eventVersion: column('event_version', 'int'),
  },
});

const Action = new EntitySchema({
  name: 'Action',
  tableName: 'actions',
  columns: {
    id,
    status: column('status', 'text'),
    namespace: column('namespace', 'text'),
    name: column('name', 'text'),
    principal: column('principal', 'text'),
    startedDate: column('started_date', 'timestamptz'),
    completedDate: column('completed_date', 'timestamptz'),
    params: column('params', 'jsonb'),
  },
});

/** TypeORM: repositories and a guarded update, because `save` does not compare versions. */
export async function open({ connection, withAction }) {
  const { host, port, user, password, database } = connection;
  const source = new DataSource({
    type: 'postgres',
    host,
    port,
    username: user,
    password,
    database,
    poolSize: POOL_SIZE,
    entities: [Wallet, Event, Action],
  });
  await source.initialize();
  return {
    deposit: (walletId, amount) => deposit(source, { walletId, amount, withAction }),
    close: () => source.destroy(),
  };
}

async function deposit(source, { walletId, amount, withAction }) {
  const wallet = await source.getRepository(Wallet).findOneByOrFail({ id: walletId });
  const now = new Date();
  const balance = add(wallet.balance, amount);
  const version = Number(wallet.version) + 1;
  await source.transaction(async (manager) => {
    const guard = { id: walletId, version: wallet.version };
    const { affected } = await manager.update(Wallet, guard, { balance, version, updatedDate: now });
    if (affected === 0) throw new Stale();
    const event = eventRow({ walletId, amount, balance, version, now });
    await manager.insert(Event, event);
    if (withAction) await manager.insert(Action, actionRow(event, { walletId, amount, now }));
  });
}
