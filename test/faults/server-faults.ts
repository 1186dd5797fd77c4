import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresServer } from '../../runtime/testing/databases-server.js';
import { DATABASE } from './server-world.js';
import { connectTo } from './stored-rows.js';

/** Hurts a server and makes it whole again. */
export interface ServerFault {
  readonly name: string;
  /** Resolves when the server is whole again; gives the time of that (`performance.now()`). */
  readonly strike: (server: PostgresServer) => Promise<number>;
}

/** How long a server stays hurt, in milliseconds. */
const HURT_MS = 1_500;

export const SERVER_FAULTS: readonly ServerFault[] = [
  {
    name: 'killed with -9 and started again',
    strike: async (server) => {
      await server.kill();
      await delay(HURT_MS);
      await server.start();
      return performance.now();
    },
  },
  {
    name: 'restarted',
    strike: async (server) => {
      await server.stop();
      await server.start();
      return performance.now();
    },
  },
  {
    name: 'stopped for seconds (SIGSTOP)',
    strike: async (server) => {
      server.pause();
      await delay(2 * HURT_MS);
      server.resume();
      return performance.now();
    },
  },
  {
    name: 'read-only for a while',
    strike: async (server) => {
      await asAdministrator(server, [
        'alter system set default_transaction_read_only = on',
        RELOAD,
        TERMINATE,
      ]);
      await delay(HURT_MS);
      await asAdministrator(server, ['alter system reset default_transaction_read_only', RELOAD]);
      return performance.now();
    },
  },
  {
    name: 'having its backends terminated over and over',
    strike: async (server) => {
      for (let turn = 0; turn < 20; turn += 1) {
        await asAdministrator(server, [TERMINATE]);
        await delay(50);
      }
      return performance.now();
    },
  },
  {
    name: 'out of connections',
    strike: async (server) => {
      const clients = [await connectTo(server, server.database)];
      // Until no connection is left, those that the application had included.
      for (let left = true; left; ) {
        await clients[0]?.query(TERMINATE);
        left = await connectTo(server, server.database).then(
          (client) => clients.push(client) > 0,
          () => false,
        );
      }
      await delay(HURT_MS);
      await Promise.all(clients.map((client) => client.end()));
      return performance.now();
    },
  },
];

const RELOAD = 'select pg_reload_conf()';
/** Ends all sessions of the application. */
const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${DATABASE}'`;

async function asAdministrator(server: PostgresServer, statements: readonly string[]): Promise<void> {
  const client = await connectTo(server, server.database);
  try {
    await client.query('set default_transaction_read_only = off');
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
