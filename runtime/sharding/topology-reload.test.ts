import { describe, expect, test } from 'vitest';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ReloadRefusedError } from '../errors.js';
import { DriverFailure } from './driver-failure.js';
import type { Rows, ShardDatabase, Statement } from './shard-database.js';
import { requireConnection, requireSuccessor } from './topology-reload.js';

const shard = ShardIdentifier.of(0, 1);

/** A database that answers like this. */
function databaseOf(answer: (text: string) => readonly unknown[]): ShardDatabase {
  const query = async ({ text }: Statement): Promise<Rows> => {
    return { columns: [], rows: [answer(text)], command: 'SELECT', rowCount: 1 };
  };
  const members = { shard, description: 'a database', query, close: () => Promise.resolve() };
  return members as unknown as ShardDatabase;
}

const busy = (): never => {
  throw new DriverFailure('no connection became free in time', {
    phase: 'not-sent',
    reason: 'pool-exhausted',
  });
};

/** The server that is asked before another one takes over. */
const successor = databaseOf((text) => {
  if (text.includes('to_regclass')) return [true];
  return text.includes('group_number') ? [shard.group, shard.member] : [false, false];
});

/** A database to which no connection can be opened, with the error of the attempt. */
function withoutConnection(code: string | undefined): ShardDatabase {
  return databaseOf(() => {
    const cause = Object.assign(new Error('no'), code !== undefined && { code });
    throw new DriverFailure('cannot connect', { phase: 'not-sent', reason: 'unreachable', cause });
  });
}

test.each(['ECONNREFUSED', 'ENOTFOUND', undefined])(
  'a server is switched if the old one does not answer: %s',
  async (code) => {
    const old = withoutConnection(code);
    await requireSuccessor(
      () => successor,
      () => old,
    );
  },
);

test.each(['ENOENT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'EAI_AGAIN'])(
  'a server is not switched if this process cannot ask the old one: %s',
  async (code) => {
    const old = withoutConnection(code);
    const switched = requireSuccessor(
      () => successor,
      () => old,
    );
    await expect(switched).rejects.toThrow(
      /^.*it is unknown whether a database still accepts writes: .+; if .+ restart the process/,
    );
  },
);

describe('while the limit of connections leaves none for a check', () => {
  test('a server is not switched: the old one may still accept writes', async () => {
    const switched = requireSuccessor(
      () => successor,
      () => databaseOf(busy),
    );
    await expect(switched).rejects.toThrow('it is unknown whether a database still accepts writes');
  });

  test('new connection settings are not taken over unchecked', async () => {
    const present = { open: 0, idle: 0, waiting: 0 };
    const checked = requireConnection(shard, () => databaseOf(busy), present);
    await expect(checked).rejects.toThrow(ReloadRefusedError);
  });
});
