import { it, expect } from 'vitest';
import { startPostgres } from '../testing/databases-server.js';
import { PostgresDatabase } from './postgres-database.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
it('works', async () => {
  const t0 = Date.now();
  const server = await startPostgres();
  console.log('start', Date.now() - t0);
  const url = { kind: 'postgresql' as const, host: server.host, port: server.port, database: 'postgres', sslMode: 'disable' as const, sslRootCert: undefined };
  const db = new PostgresDatabase(ShardIdentifier.of(0, 0), url, {
    url, username: server.user, password: { reveal: () => server.password }, maximumPoolSize: 16, connectTimeoutMs: 800, lockTimeoutMs: 400,
    statementTimeoutMs: 10000, idleInTransactionTimeoutMs: 10000, idleTimeoutMs: 30000, applicationName: 'x', allowUnsafe: [] });
  try {
  console.log(await db.query({ text: "select 1 as a, now() as n, '{1,2}'::int[] as b, 5::int8 as c, null as d, array['x','y'] e, current_setting('TimeZone') tz, version()", values: [] }));
  await db.query({ text: 'create table t(id int primary key, v text)', values: [] });
  await db.query({ text: 'insert into t values ($1, $2)', values: [1, 'x'], name: 'ins' });
  const e = await db.query({ text: 'insert into t values ($1, $2)', values: [1, 'x'], name: 'ins' }).catch((e) => e);
  console.log(e, db.stats());
  await db.query({ text: 'insert into t values ($1, $2)', values: [2, 'x'], name: 'ins' });
  console.log(await db.query({ text: 'select * from t', values: [], name: 'sel' }), await db.query({ text: 'select * from t', values: [], name: 'sel' }));
  await db.query({ text: 'alter table t add w int', values: [] });
  console.log(await db.query({ text: 'select * from t', values: [], name: 'sel' }), db.stats());
  console.log(await db.query({ text: 'select 1/0', values: [] }).catch((e) => e.phase + e.sqlState));
  console.log(await db.query({ text: 'select pg_sleep(3)', values: [] }, { timeoutMs: 200 }).catch((e) => e), db.stats());
  console.log(await db.query({ text: 'select pg_terminate_backend(pg_backend_pid())', values: [] }, { timeoutMs: 200 }).catch((e) => e), db.stats());
  // perf
  for (const c of [1, 16, 64]) {
    const N = 20000; const t = performance.now(); let i = 0; const cpu = process.cpuUsage();
    await Promise.all(Array.from({ length: c }, async () => { while (i++ < N) await db.query({ text: 'select * from t where id = $1', values: [1], name: 'byid' }); }));
    const u = process.cpuUsage(cpu);
    console.log('own', c, (N / (performance.now() - t) * 1000).toFixed(0) + '/s', ((u.user + u.system) / N).toFixed(1) + 'us cpu');
  }
  const pg = (await import('pg')).default;
  const pool = new pg.Pool({ host: server.host, port: server.port, user: server.user, password: server.password, database: 'postgres', max: 16 });
  for (const c of [1, 16, 64]) {
    const N = 20000; const t = performance.now(); let i = 0; const cpu = process.cpuUsage();
    await Promise.all(Array.from({ length: c }, async () => { while (i++ < N) await pool.query({ text: 'select * from t where id = $1', values: [1], name: 'byid', rowMode: 'array' }); }));
    const u = process.cpuUsage(cpu);
    console.log('pg.Pool', c, (N / (performance.now() - t) * 1000).toFixed(0) + '/s', ((u.user + u.system) / N).toFixed(1) + 'us cpu');
  }
  await pool.end();
  } finally {
  await db.close();
  await server.destroy();
  }
  expect(1).toBe(1);
}, 60000);
