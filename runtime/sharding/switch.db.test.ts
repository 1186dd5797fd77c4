import { expect, it } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import { gate } from '../concurrency/test-support/gate.js';
import { openDatabases } from '../databases.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ReloadRefusedError } from '../errors.js';
import { ServedDatabase } from './served-database.js';
import type { Place, ShardDatabase } from './shard-database.js';
import { untilPromoted } from './topology-reload.js';

const shard = ShardIdentifier.of(0, 1);
const where = { text: 'select current_database()', values: [] };

describeOn('postgresql', 'A shard whose server changes', (harness) => {
  const opens = async (): Promise<() => ShardDatabase> => {
    const topology = await harness.makeTopology({ shards: [shard] });
    return () => openDatabases(topology).database(shard);
  };
  const name = async (database: ShardDatabase): Promise<unknown> =>
    (await database.query(where)).rows[0]?.[0];
  const nameOf = async (open: () => ShardDatabase): Promise<unknown> => {
    const database = open();
    return name(database).finally(() => database.close(0));
  };

  it('holds calls back until calls in progress have ended and the new server may be used', async () => {
    const [openOld, openNew] = [await opens(), await opens()];
    const [old, wanted] = [await nameOf(openOld), await nameOf(openNew)];
    const database = new ServedDatabase(openOld(), 60_000);
    const running = database.query({ text: 'select current_database() from pg_sleep(0.2)', values: [] });
    const { opened: checked, open: mayGoOn } = gate();
    let ended = false;
    void running.then(() => {
      ended = true;
    });
    const check = async (): Promise<void> => {
      expect(ended).toBe(true);
      await checked;
    };
    const switching = database.switchTo({ timeoutMs: 60_000, patienceMs: 60_000, check, openNew, openOld });
    const held = [name(database), name(database)];
    expect((await running).rows).toEqual([[old]]);
    const first = await Promise.race([held[0], new Promise((resolve) => setTimeout(resolve, 100, 'held'))]);
    expect(first).toBe('held');
    mayGoOn();
    await switching;
    expect(await Promise.all(held)).toEqual([wanted, wanted]);
    await database.close(0);
  });

  it('keeps the old server if the new one is refused, and fails only calls that cannot wait', async () => {
    const [openOld, openNew] = [await opens(), await opens()];
    const old = await nameOf(openOld);
    const database = new ServedDatabase(openOld(), 60_000);
    await name(database);
    const { opened: isRefused, open: refuse } = gate();
    const check = (): Promise<void> =>
      isRefused.then(() => Promise.reject(new ReloadRefusedError('not yet')));
    const switching = database.switchTo({ timeoutMs: 60_000, patienceMs: 60_000, check, openNew, openOld });
    const patient = name(database);
    await expect(database.query(where, { timeoutMs: 50 })).rejects.toMatchObject({ phase: 'not-sent' });
    const place: Place = {};
    const leaving = database.query(where, { place });
    place.leave?.();
    await expect(leaving).rejects.toMatchObject({ phase: 'not-sent' });
    refuse();
    await expect(switching).rejects.toThrow('not yet');
    expect(await patient).toBe(old);
    await database.close(0);
  });

  it('is refused while calls in progress do not end, and nothing has changed', async () => {
    const [openOld, openNew] = [await opens(), await opens()];
    const database = new ServedDatabase(openOld(), 60_000);
    const session = await database.acquire();
    const check = (): Promise<void> => Promise.reject(new Error('Not called'));
    const switching = database.switchTo({ timeoutMs: 60_000, patienceMs: 50, check, openNew, openOld });
    await expect(switching).rejects.toThrow('calls are still in progress');
    expect((await session.query(where)).rows).toHaveLength(1);
    session.release();
    await database.close(0);
  });

  it('waits a limited time for a new server that is still read-only', async () => {
    const openNew = await opens();
    const set = async (clause: string): Promise<void> => {
      const database = openNew();
      const text = `do $$ begin execute format('alter database %I ${clause}', current_database()); end $$`;
      const session = await database.acquire();
      await session.script(`set transaction read write; ${text}`);
      session.destroy();
      await database.close(0);
    };
    await set('set default_transaction_read_only = on');
    await expect(untilPromoted(openNew, 50)).rejects.toThrow('does not accept writes: it is read-only');
    const waiting = untilPromoted(openNew, 60_000);
    await set('reset default_transaction_read_only');
    await waiting;
  });
});
