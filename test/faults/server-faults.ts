import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresServer } from '../databases/server.js';
import { connectTo } from './stored-rows.js';

/** Repairs a server; resolves when it is repaired. */
export type Heal = () => Promise<void>;
/** Damages a server; resolves when it is damaged. */
export type Hurt = (server: PostgresServer) => Promise<Heal>;

export const kill: Hurt = async (server) => {
  await server.kill();
  return () => server.start();
};

export const stop: Hurt = async (server) => {
  await server.stop();
  return () => server.start();
};

export const freeze: Hurt = (server) => {
  server.pause();
  return Promise.resolve(() => Promise.resolve(server.resume()));
};

export const makeReadOnly: Hurt = async (server) => {
  await asAdministrator(server, ['alter system set default_transaction_read_only = on', RELOAD, TERMINATE]);
  return () => asAdministrator(server, ['alter system reset default_transaction_read_only', RELOAD]);
};

/** Repeatedly ends the application's sessions, for a second. */
export const terminateBackends: Hurt = async (server) => {
  for (let turn = 0; turn < 20; turn += 1) {
    await asAdministrator(server, [TERMINATE]);
    await delay(50);
  }
  return () => Promise.resolve();
};

/** Takes all connections of the server, including those of the application. */
export const takeAllConnections: Hurt = async (server) => {
  const first = await connectTo(server, server.database);
  const taken = [first];
  // A session that is being accepted is not listed yet, but takes a slot.
  for (let inVain = 0; inVain < 5; ) {
    const more = await connectTo(server, server.database).catch(() => undefined);
    if (more !== undefined) taken.push(more);
    const { rowCount } = await first.query(TERMINATE);
    inVain = more === undefined && rowCount === 0 ? inVain + 1 : 0;
    if (inVain > 0) await delay(20);
  }
  return async () => {
    await Promise.all(taken.map((client) => client.end()));
  };
};

const RELOAD = 'select pg_reload_conf()';
/** Ends all sessions of applications: those of the test have no name. */
const TERMINATE = "select pg_terminate_backend(pid) from pg_stat_activity where application_name <> ''";

async function asAdministrator(server: PostgresServer, statements: readonly string[]): Promise<void> {
  const client = await connectTo(server, server.database);
  try {
    await client.query('set default_transaction_read_only = off');
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
