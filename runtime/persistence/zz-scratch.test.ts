import pg from 'pg';
import { expect, test } from 'vitest';
import { ActionPlan } from '../action/action-plan.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { Decimal } from '../domain/decimal.js';
import { uuid7 } from '../domain/id-source.js';
import { currency } from '../domain/currency.js';
import { systemClock } from '../domain/clock.js';
import { EventCatalog } from './event-catalog.js';
import { SqlShardStore } from './sql-shard-store.js';
import { walletModel } from '../../examples/wallet/generated/wallet.js';
import { Wallet } from '../../examples/wallet/models/wallet.js';
import { WalletCreatedEvent } from '../../examples/wallet/events/wallet-created-event.js';
import { WalletMoneyDepositedEvent } from '../../examples/wallet/events/wallet-money-deposited-event.js';

test('flush', async () => {
  const pool = new pg.Pool({ host: '/tmp/pgx', port: 55432, user: 'postgres', max: 4 });
  const shard = ShardIdentifier.of(0, 0);
  const dec = { kind: 'decimal', precision: 19, scale: 4 } as const;
  const events = new EventCatalog([
    { name: 'WalletCreatedEvent', model: 'Wallet', eventClass: () => WalletCreatedEvent as never, fields: [{ name: 'ownerId', type: { kind: 'uuid' } }, { name: 'initialBalance', type: dec }] },
    { name: 'WalletMoneyDepositedEvent', model: 'Wallet', eventClass: () => WalletMoneyDepositedEvent as never, fields: [{ name: 'amount', type: dec }, { name: 'newBalance', type: dec }] },
  ]);
  const db = {
    shard,
    query: async (s: any) => {
      try {
      const r: any = await pool.query({ ...s, rowMode: 'array' });
      return { rows: r.rows, rowCount: r.rowCount, command: r.command, columns: [] };
      } catch (e) { console.log(s.text, s.values); throw e; }
    },
  } as any;
  const store = new SqlShardStore(db, 'ns', events);
  const write = (items: any, id = uuid7.next(0)) => ({
    action: { id, name: 'A', principal: "it's {me}, \"x\"", startedDate: new Date().toISOString(), completedDate: new Date().toISOString(), params: '{"a":"q\\"\\\\"}', result: undefined },
    items, traceContext: undefined,
  });
  const add = () => {
    const p = new ActionPlan(systemClock);
    const w = p.add(Wallet.createWallet(shard, '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10', currency('MXN'), new Decimal('100.5'), new Date()));
    return { w, items: p.seal() };
  };
  const upd = (w: Wallet, n = 1) => {
    const p = new ActionPlan(systemClock);
    const u = p.update(w.deposit(new Decimal(n)));
    return { w: u, items: p.seal() };
  };
  const a = add(), b = add();
  expect(await store.flush({ plans: [write(a.items), write(b.items)], locked: 'skip' })).toEqual(['applied', 'applied']);
  const [ra] = await store.read(walletModel, [a.w.id.getValue()]);
  expect(ra).toEqual(a.w);
  const u1 = upd(a.w), u2 = upd(b.w), c = add();
  expect(await store.flush({ plans: [write(u1.items), write(c.items), write(u2.items)], locked: 'skip' })).toEqual(['applied', 'applied', 'applied']);
  const v1 = upd(a.w); // stale
  const v2 = upd(u2.w);
  const ex = new ActionPlan(systemClock); ex.expect(u1.w); ex.update(c.w.deposit(new Decimal(1)));
  expect(await store.flush({ plans: [write(v1.items), write(v2.items), write(ex.seal())], locked: 'skip' })).toEqual(['left-out', 'applied', 'applied']);
  expect(await store.flush({ plans: [write(v1.items)], locked: 'wait' })).toEqual(['left-out']);
  const ex2 = new ActionPlan(systemClock); ex2.expect(a.w);
  expect(await store.flush({ plans: [write(ex2.seal())], locked: 'wait' })).toEqual(['left-out']);
  // fence
  const w9 = write(upd(v2.w).items);
  expect(await store.fence(w9.action)).toBe('void');
  expect(await store.flush({ plans: [w9], locked: 'wait' })).toEqual(['left-out']);
  const w10 = write(upd(v2.w).items);
  expect(await store.flush({ plans: [w10], locked: 'wait' })).toEqual(['applied']);
  expect(await store.fence(w10.action)).toBe('committed');
  const r = await pool.query("select model_version, event_type, payload from eventlog.events where model_id=$1 order by position", [b.w.id.getValue()]);
  console.log(r.rows);
  await pool.end();
});
