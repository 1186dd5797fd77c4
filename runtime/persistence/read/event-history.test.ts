import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { describe, expect, test } from 'vitest';
import { AccessCheck } from '../../action/access-check.js';
import { visible } from '../../action/access-rule.js';
import { ActionPlan } from '../../action/action-plan.js';
import { runInPerformScope } from '../../action/perform-scope.js';
import { Reach } from '../../action/tenancy.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { Account, newAccount } from '../../domain/test-support/account.js';
import { ForbiddenError } from '../../errors.js';
import { EventHistory } from './event-history.js';
import type { RepositoryContext } from './repository.js';

const HERE = ShardIdentifier.of(0, 0);
const ABROAD = ShardIdentifier.of(1, 0);
const ANA = { name: 'ana', claims: {} };
const open = newAccount(new Decimal(1), HERE).build();
const openAccounts = visible(Account, () => ({ state: 'OPEN' }));

/** Shards without events. Counts the queries. */
function emptyShards(): { readonly context: RepositoryContext; readonly asked: ShardIdentifier[] } {
  const asked: ShardIdentifier[] = [];
  const queries = <Tables>(shard: ShardIdentifier): Kysely<Tables> => {
    asked.push(shard);
    return new Kysely<Tables>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
  };
  const context = { shards: [HERE, ABROAD], defaultShard: HERE, queries } as unknown as RepositoryContext;
  return { context, asked };
}

/** Runs part of a `perform` under an access rule for accounts. @throws ForbiddenError if the rule refuses it */
async function performUnder(
  reach: Reach | undefined,
  work: (history: EventHistory, access: AccessCheck) => Promise<unknown>,
): Promise<readonly ShardIdentifier[]> {
  const { context, asked } = emptyShards();
  const plan = new ActionPlan(systemClock, HERE);
  const access = new AccessCheck({
    ...{ actionName: 'AccountEventsAction', rule: openAccounts, principal: ANA, params: {} },
    items: () => plan.items,
  });
  const scope = { actionName: 'AccountEventsAction', plan, access, reach, signal: undefined };
  await runInPerformScope({ ...scope, remainingMs: () => 1_000 }, () =>
    work(new EventHistory(context), access),
  );
  access.require();
  return asked;
}

describe('the history of a model under a rule about it', () => {
  test('is refused to an action that has only read another model', async () => {
    const other = newAccount(new Decimal(1), HERE).build();
    const read = performUnder(undefined, async (history, access) => {
      access.see(other);
      await history.of(open.id);
    });
    await expect(read).rejects.toThrow(ForbiddenError);
  });

  test('is refused if the rule hides the model from the caller, and returned otherwise', async () => {
    const read = (state: 'OPEN' | 'GONE') =>
      performUnder(undefined, async (history, access) => {
        access.see(open.copy().state(state).build());
        await history.of(open.id);
      });
    await expect(read('GONE')).rejects.toThrow(ForbiddenError);
    expect(await read('OPEN')).toEqual([HERE]);
  });

  test('is refused for another group before any query is sent', async () => {
    const abroad = newAccount(new Decimal(1), ABROAD).build();
    const { context, asked } = emptyShards();
    const read = performUnder(new Reach(ANA, new Set([0])), async (_, access) => {
      access.see(abroad);
      await new EventHistory(context).of(abroad.id);
    });
    await expect(read).rejects.toThrow('ana may not reach group 1');
    expect(asked).toEqual([]);
  });
});
