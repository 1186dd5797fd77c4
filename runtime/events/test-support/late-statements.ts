import type { ShardingTopology } from '../../config/types.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { forwarding } from '../../sharding/forwarding.js';
import type { Rows, ShardDatabase, ShardSession, Statement } from '../../sharding/shard-database.js';
import { lost, wrappedDatabases } from './faulty-databases.js';

/** A statement that its sender has given up and that reaches the server later. */
export interface LateStatement {
  /** Whether it has been sent, and its sender believes that the connection is lost. */
  readonly heldBack: () => boolean;
  /** Delivers the statement to the server. */
  arrive(): Promise<Rows>;
}

/**
 * Databases of a process whose connection is cut after one statement. The statement reaches the server later, as the
 * network may deliver data that was sent before a cut.
 *
 * @param pick selects the first statement for which it returns true
 */
export function lateDatabases(
  topology: ShardingTopology,
  pick: (statement: Statement) => boolean,
): { readonly databases: DatabaseRegistry; readonly late: LateStatement } {
  let send: (() => Promise<Rows>) | undefined;
  const holdBack = (statement: Statement, call: () => Promise<Rows>): boolean => {
    if (send !== undefined || !pick(statement)) return false;
    send = call;
    return true;
  };
  const late = (database: ShardDatabase): ShardDatabase =>
    forwarding(database, {
      query: async (statement, options) => {
        if (holdBack(statement, () => database.query(statement))) throw lost('in-flight');
        return database.query(statement, options);
      },
      acquire: async (options) => lateSession(await database.acquire(options), holdBack),
    });
  return {
    databases: wrappedDatabases(topology, late),
    late: {
      heldBack: () => send !== undefined,
      arrive: () => (send === undefined ? Promise.reject(new Error('Nothing is on its way')) : send()),
    },
  };
}

type HoldBack = (statement: Statement, call: () => Promise<Rows>) => boolean;

/** The server's session of a held statement lives until the statement has arrived. */
function lateSession(session: ShardSession, holdBack: HoldBack): ShardSession {
  let cut = false;
  const arrive = async (statement: Statement): Promise<Rows> => {
    try {
      return await session.query(statement);
    } finally {
      session.destroy();
    }
  };
  return {
    query: async (statement, options) => {
      if (cut) throw lost('not-sent');
      cut = holdBack(statement, () => arrive(statement));
      if (cut) throw lost('in-flight');
      return session.query(statement, options);
    },
    script: (sql, options) => session.script(sql, options),
    release: () => (cut ? undefined : session.release()),
    destroy: () => (cut ? undefined : session.destroy()),
  };
}
