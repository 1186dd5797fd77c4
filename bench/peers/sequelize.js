import { DataTypes, OptimisticLockError, Sequelize } from 'sequelize';
import { Stale } from '../lib/load.js';
import { actionRow, add, eventRow, POOL_SIZE } from './rows.js';

const { BIGINT, CHAR, DATE, DECIMAL, INTEGER, JSONB, TEXT, UUID } = DataTypes;

/** Sequelize with its own optimistic locking (`version`). */
export async function open({ connection, withAction }) {
  const { host, port, user, password, database } = connection;
  const sequelize = new Sequelize(database, user, password, {
    host,
    port,
    dialect: 'postgres',
    logging: false,
    pool: { max: POOL_SIZE, acquire: 60_000 },
    define: { underscored: true, timestamps: false },
  });
  const models = defineModels(sequelize);
  await sequelize.authenticate();
  return {
    deposit: (walletId, amount) => deposit(sequelize, models, { walletId, amount, withAction }),
    close: () => sequelize.close(),
  };
}

function defineModels(sequelize) {
  const id = { type: UUID, primaryKey: true };
  const Wallet = sequelize.define(
    'wallets',
    {
      id,
      state: TEXT,
      ownerId: UUID,
      currency: CHAR(3),
      balance: DECIMAL(19, 4),
      createdDate: DATE,
      updatedDate: DATE,
    },
    { version: 'version' },
  );
  const Event = sequelize.define('events', {
    id,
    actionId: UUID,
    namespace: TEXT,
    modelId: TEXT,
    modelName: TEXT,
    eventType: TEXT,
    payload: JSONB,
    createdDate: DATE,
    modelVersion: BIGINT,
    eventVersion: INTEGER,
  });
  const Action = sequelize.define('actions', {
    id,
    status: TEXT,
    namespace: TEXT,
    name: TEXT,
    principal: TEXT,
    startedDate: DATE,
    completedDate: DATE,
    params: JSONB,
  });
  return { Wallet, Event, Action };
}

async function deposit(sequelize, { Wallet, Event, Action }, { walletId, amount, withAction }) {
  const wallet = await Wallet.findByPk(walletId);
  const now = new Date();
  const balance = add(wallet.balance, amount);
  const version = Number(wallet.version) + 1;
  try {
    await sequelize.transaction(async (transaction) => {
      await wallet.update({ balance, updatedDate: now }, { transaction });
      const event = eventRow({ walletId, amount, balance, version, now });
      await Event.create(event, { transaction });
      if (withAction) await Action.create(actionRow(event, { walletId, amount, now }), { transaction });
    });
  } catch (error) {
    throw error instanceof OptimisticLockError ? new Stale() : error;
  }
}
