import { PrismaPg } from '@prisma/adapter-pg';
import { Stale } from '../lib/load.js';
import { actionRow, add, eventRow, POOL_SIZE } from './rows.js';

/** With 256 loops, an interactive transaction waits long for one of 16 connections. */
const PATIENCE = { maxWait: 60_000, timeout: 60_000 };

/** Prisma's client without an engine binary, on node-postgres. `lib/prisma.js` generates it. */
export async function open({ connection, withAction }) {
  const { default: generated } = await import(new URL('../.generated/prisma/index.js', import.meta.url).href);
  const adapter = new PrismaPg({ ...connection, max: POOL_SIZE });
  const prisma = new generated.PrismaClient({ adapter });
  await prisma.$connect();
  return {
    deposit: (walletId, amount) => deposit(prisma, { walletId, amount, withAction }),
    close: () => prisma.$disconnect(),
  };
}

async function deposit(prisma, { walletId, amount, withAction }) {
  const wallet = await prisma.wallet.findUniqueOrThrow({ where: { id: walletId } });
  const now = new Date();
  const balance = add(wallet.balance, amount);
  const version = wallet.version + 1n;
  await prisma.$transaction(async (tx) => {
    const { count } = await tx.wallet.updateMany({
      where: { id: walletId, version: wallet.version },
      data: { balance, version, updatedDate: now },
    });
    if (count === 0) throw new Stale();
    const event = eventRow({ walletId, amount, balance, version, now });
    await tx.event.create({ data: event });
    if (withAction) await tx.action.create({ data: actionRow(event, { walletId, amount, now }) });
  }, PATIENCE);
}
