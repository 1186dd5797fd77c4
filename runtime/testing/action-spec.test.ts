import { describe, expect, test } from 'vitest';
import { Action } from '../action/action.js';
import { ExecutionConfiguration } from '../action/execution-configuration.js';
import type { Clock } from '../domain/clock.js';
import { Decimal } from '../domain/decimal.js';
import { ShardedId } from '../domain/id.js';
import type { Principal } from '../domain/principal.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { Account, AccountCredited, accountModel, newAccount } from '../domain/test-support/account.js';
import { Note, newNote, noteModel } from '../domain/test-support/note.js';
import {
  CrossShardException,
  DatabaseError,
  ModelNotFoundError,
  PreconditionFailedError,
  StaleModelError,
  UniqueViolationError,
  UnknownShardError,
  ValidationError,
} from '../errors.js';
import { Repository } from '../persistence/read/repository.js';
import { actionSpec } from './action-spec.js';
import { persisted } from './persisted.js';
import { complaint } from './test-support/complaint.js';
import { VirtualClock } from './virtual-clock.js';

type Repositories = { readonly accounts: Accounts; readonly notes: Repository<Note> };
type Script<Result> = (
  action: ScriptedAction<Result>,
  repositories: Repositories,
) => Promise<Result> | Result;

class Accounts extends Repository<Account> {
  countOn(shard: ShardIdentifier): unknown {
    return this.queries(shard).selectFrom('accounts');
  }
}

/** Runs a function of the test in `perform`. */
class ScriptedAction<Result> extends Action<Script<Result>, Result> {
  readonly #repositories: Repositories;
  principal: Principal | undefined;
  override plan = super.plan;

  constructor(clock: Clock, repositories: Repositories) {
    super(clock);
    this.#repositories = repositories;
  }

  protected async perform(principal: Principal, script: Script<Result>): Promise<Result> {
    this.principal = principal;
    return script(this, this.#repositories);
  }
}

class GreetAction extends Action<{ readonly account: ShardedId<Account> }, void> {
  protected perform(): void {}
}

const NOW = new Date('2025-03-01T12:00:00.000Z');
const one = new Decimal(1);
const first = ShardIdentifier.of(0, 0);
const second = ShardIdentifier.of(1, 0);
const account = (shard = first): Account => persisted(newAccount(new Decimal(100), shard).build());
const configuration = ExecutionConfiguration.Builder.executionConfiguration;

const scripted = <Result>(shards?: readonly ShardIdentifier[]) =>
  actionSpec({
    clock: new VirtualClock(NOW),
    ...(shards === undefined ? {} : { shards }),
    create: (kit) =>
      new ScriptedAction<Result>(kit.clock, {
        accounts: kit.repository(Accounts, accountModel),
        notes: kit.repository(Repository<Note>, noteModel),
      }),
  });

/** Credits one account by one. */
const credit =
  (id: ShardedId<Account>): Script<Account> =>
  async (action, { accounts }) =>
    action.plan().update((await accounts.getById(id)).credit(one));

/** Credits several accounts by one, in this order. */
const creditAll =
  (...ids: readonly ShardedId<Account>[]): Script<void> =>
  async (action, { accounts }) => {
    for (const id of ids) action.plan().update((await accounts.getById(id)).credit(one));
  };

describe('given', () => {
  test('stores models, which reads find by their ids', async () => {
    const models = [account(), account(second)];
    const { result } = await scripted<unknown>()
      .given(...models, newNote('other'))
      .when((_, { accounts }) => accounts.findAllByIds(models.map(({ id }) => id)))
      .performed();
    expect(result).toEqual({ models, missing: [] });
  });

  test('stores models without their pending events, as a database does', () => {
    const created = newAccount(one).build().credit(one);
    return scripted<Account>()
      .given(created)
      .when(credit(created.id))
      .thenEvents(new AccountCredited(created.id, one));
  });

  test('keeps models of different classes with the same id apart', () => {
    const model = account();
    return scripted<unknown>()
      .given(model)
      .when((_, { notes }) => notes.getById(model.id.getValue()))
      .thenFails(ModelNotFoundError);
  });

  test('hides deleted models as repositories do', () => {
    const gone = account().copy().state('GONE').build();
    return scripted<Account>().given(gone).when(credit(gone.id)).thenFails(ModelNotFoundError);
  });

  test('leaves the specification as it was, so that tests can share it', async () => {
    const model = account();
    const shared = scripted<Account>();
    await shared.given(model).when(credit(model.id)).thenUpdated(Account);
    await shared.when(credit(model.id)).thenFails(ModelNotFoundError);
  });
});

describe('as', () => {
  test('sets the acting principal', async () => {
    const name = (action: ScriptedAction<unknown>): unknown => action.principal;
    expect((await scripted<unknown>().when(name).performed()).result).toMatchObject({ name: 'spec' });
    expect((await scripted<unknown>().as({ name: 'alice' }).when(name).performed()).result).toMatchObject({
      name: 'alice',
    });
  });
});

describe('when', () => {
  test('lets reads see models that were staged before', () => {
    const model = account();
    return scripted<Decimal>()
      .given(model)
      .when(async (action, repositories) => {
        await credit(model.id)(action as unknown as ScriptedAction<Account>, repositories);
        return (await repositories.accounts.getById(model.id)).balance;
      })
      .thenReturns(new Decimal(101));
  });

  test('reports that queries need a database', () =>
    scripted<unknown>()
      .when((_, { accounts }) => accounts.countOn(second))
      .thenFails(DatabaseError, /^Shard \(1, 0\) holds no database: an action spec reads by id only/));

  test.each([
    ['one shard', [account()], true],
    ['two shards', [account(), account(second)], false],
  ] as const)('judges a plan over %s as the executor does', async (_, models, admitted) => {
    const outcome = scripted<void>()
      .given(...models)
      .when(creditAll(...models.map(({ id }) => id)));
    await (admitted ? outcome : outcome.thenFails(CrossShardException));
  });

  test('places models without a sharded id on the default shard', () => {
    const model = account(second);
    const note = newNote('x');
    return scripted<void>()
      .given(model, note)
      .when((action) => {
        action.plan().update(model);
        action.plan().update(note);
      }, configuration().allowCrossShard(true).build())
      .thenUpdated(Account)
      .thenUpdated(Note, { text: 'x', version: 2 })
      .thenStored(note, { version: 2 })
      .thenTouches(second, first);
  });

  test('refuses shards that are not configured, in reads and in plans', async () => {
    const spec = scripted<Account>([first]);
    const foreign = account(second);
    await spec
      .given(foreign)
      .when(credit(foreign.id))
      .thenFails(UnknownShardError, 'Shard (1, 0) is not configured');
    await spec
      .when((action) => action.plan().add(newAccount(one, second).build()))
      .thenFails(UnknownShardError);
  });

  test('checks ifVersion against the version that an update starts from', async () => {
    const model = persisted(account(), 5);
    const spec = scripted<Account>().given(model);
    await spec.when(credit(model.id), configuration().ifVersion(model.id, 4, 5).build()).thenUpdated(Account);
    const refused = spec.when(credit(model.id), configuration().ifVersion(model.id, 4).build());
    await refused.thenFails(PreconditionFailedError, `Account ${model.id} has version 5, not 4`);
    const never = spec.when(credit(model.id), configuration().ifVersion(model.id).build());
    await never.thenFails(
      PreconditionFailedError,
      `Account ${model.id} has version 5, and no version is accepted`,
    );
  });

  test('refuses plans that the database would refuse', async () => {
    const model = account();
    const spec = scripted<unknown>().given(persisted(model, 2));
    await spec.when((action) => action.plan().update(model)).thenFails(StaleModelError);
    await spec.when((action) => action.plan().expect(model)).thenFails(StaleModelError);
    await spec.when((action) => action.plan().add(model)).thenFails(UniqueViolationError);
    await spec.when((action) => action.plan().update(account())).thenFails(StaleModelError);
  });

  test('refuses values that do not fit their column', () =>
    scripted<unknown>()
      .when((action) => action.plan().add(newAccount(new Decimal('0.00001')).build()))
      .thenFails(ValidationError, 'balance has more than 4 decimals'));
});

describe('the outcome', () => {
  const model = account();
  const other = account();
  const spec = scripted<Account>().given(model);
  const two = scripted<void>().given(model, other);

  test('returns what was performed', async () => {
    const { result, items, events, shards } = await spec.when(credit(model.id)).performed();
    expect(items.map(({ kind, model: stored }) => [kind, stored])).toEqual([['update', result]]);
    expect(events).toEqual([new AccountCredited(model.id, one)]);
    expect(shards).toEqual([first]);
  });

  test('throws the error of an action that fails unexpectedly', async () => {
    const failing = scripted<unknown>().when(() => {
      throw new ValidationError('no');
    });
    await expect(failing).rejects.toThrow(ValidationError);
    await expect(failing.thenNothing()).rejects.toThrow(ValidationError);
  });

  const credited = spec.when(credit(model.id));
  const both = two.when(creditAll(model.id, other.id));
  const missing = spec.when(credit(other.id));
  const answer = scripted<object>().when(() => ({ at: NOW, sums: [one] }));
  const updated = `update Account ${model.id} to version 2`;
  const notFound = `Account ${other.id} does not exist`;
  const event = (amount: number, { id } = model): AccountCredited =>
    new AccountCredited(id, new Decimal(amount));

  const inOtherOrder = () =>
    both.thenUpdated(Account, { id: other.id }).thenUpdated(Account, { id: model.id });
  const failing = 'Expected the action to fail with ValidationError, but it';

  test.each<[string, () => PromiseLike<unknown>, string]>([
    [
      'another kind of staging',
      () => credited.thenAdded(Account),
      `to add Account next, but there is: ${updated}`,
    ],
    ['another class', () => credited.thenUpdated(Note), updated],
    ['a plan that ends too early', () => credited.thenUpdated(Account).thenUpdated(Account), 'nothing more'],
    ['a missing expectation', () => credited.thenExpected(Account), 'Expected the plan to expect Account'],
    ['another staging order', inOtherOrder, 'to update Account with other fields'],
    [
      'a staged model without a check',
      () => both.thenUpdated(Account),
      'Expected the plan to hold nothing else',
    ],
    ['a plan that should be empty', () => credited.thenNothing(), updated],
    ['an event too few', () => credited.thenEvents(), 'to emit other events'],
    ['an event too many', () => credited.thenEvents(event(1), event(1)), 'to emit other events'],
    ['another payload', () => credited.thenEvents(event(2)), 'to emit other events'],
    ['an event of another model', () => credited.thenEvents(event(1, other)), 'to emit other events'],
    ['events that depend on the result', () => credited.thenEvents(() => []), 'to emit other events'],
    ['other shards', () => credited.thenTouches(second), '(1, 0)'],
    ['another result', () => credited.thenReturns({ version: 1 }), 'version: 2'],
    ['another value', () => answer.thenReturns({ at: NOW, sums: [] }), 'Decimal 1'],
    ['no failure', () => credited.thenFails(ValidationError), `${failing} succeeded and staged: ${updated}`],
    [
      'another error',
      () => missing.thenFails(ValidationError),
      `${failing} failed with ModelNotFoundError: ${notFound}`,
    ],
    ['another message', () => missing.thenFails(ModelNotFoundError, 'does not exist'), notFound],
    [
      'checks of staged models before a failure check',
      () => missing.thenUpdated(Account).thenFails(ModelNotFoundError),
      'Call thenFails directly after when',
    ],
  ])('reports %s, at the line of the check', async (_, check, message) => {
    const error = await complaint(check());
    expect(error.message).toContain(message);
    expect(error.stack?.split('\n').find((line) => line.trim().startsWith('at '))).toContain(
      'action-spec.test.ts',
    );
  });

  test('reports the fields with other values', async () => {
    const error = await complaint(credited.thenUpdated(Account, { version: 3, balance: one }));
    expect(error.actual).toEqual({ version: 2, balance: 'Decimal 101' });
    expect(error.expected).toEqual({ version: 3, balance: 'Decimal 1' });
  });

  test('compares decimals, ids and dates by value', async () => {
    await credited.thenUpdated(Account, {
      ...{ id: ShardedId.of(Account, model.id.getValue().toUpperCase()), balance: new Decimal('101.000') },
      ...{ updatedDate: new Date(NOW), nickname: undefined, closedBy: null },
    });
    await answer.thenReturns({ at: new Date(NOW), sums: [new Decimal('1.0')] });
  });

  test('passes with the right checks, in staging order', async () => {
    await both.thenTouches(first);
    await both.thenUpdated(Account, { id: model.id }).thenUpdated(Account, { id: other.id });
    await scripted<number>()
      .when(() => 1)
      .thenNothing();
    await credited.thenEvents((stored) => [new AccountCredited(stored.id, one)]);
    await credited.thenReturns({ version: 2 });
    let modelId: unknown;
    await missing.thenFails(ModelNotFoundError, /does not exist$/, (error) => {
      modelId = error.modelId;
    });
    expect(modelId).toBe(other.id.getValue());
  });
});

describe('a scheduled action', () => {
  const later = new Date('2030-01-01T00:00:00.000Z');
  const params = { amount: one } as never;

  test('is checked by thenSchedules and thenCancels', async () => {
    const id = account().id.getValue();
    await scripted()
      .when((action) => {
        action.plan().schedule(later, ScriptedAction, params);
        action.plan().cancelSchedule(id);
      })
      .thenSchedules({ at: later, action: ScriptedAction, params: { amount: new Decimal('1.0') } as never })
      .thenCancels(id)
      .thenTouches(first);
    const other = scripted()
      .when((action) => void action.plan().schedule(later, ScriptedAction, params))
      .thenSchedules({ at: NOW, action: ScriptedAction, params });
    await expect(other).rejects.toThrow('Expected the action to schedule other actions');
    const asSystem = scripted().when(
      (action) => void action.plan().schedule(later, ScriptedAction, params, { principal: 'billing' }),
    );
    await asSystem.thenSchedules({ at: later, action: ScriptedAction, params, principal: 'billing' });
    await expect(asSystem.thenSchedules({ at: later, action: ScriptedAction, params })).rejects.toThrow(
      "principal: 'billing'",
    );
    const nothing = scripted()
      .when((action) => void action.plan().schedule(later, ScriptedAction, params))
      .thenNothing();
    await expect(nothing).rejects.toThrow('Expected the action to stage nothing');
  });

  test('may depend on the result, as ids of new models do', async () => {
    const schedule = (action: ScriptedAction<Account>): Account => {
      const added = action.plan().add(newAccount(one).build());
      action.plan().schedule(later, GreetAction, { account: added.id });
      return added;
    };
    const outcome = scripted<Account>().when(schedule);
    await outcome.thenSchedules(({ id }) => [{ at: later, action: GreetAction, params: { account: id } }]);
    await expect(
      outcome.thenSchedules(() => [{ at: later, action: GreetAction, params: { account: account().id } }]),
    ).rejects.toThrow(/Expected the action to schedule other actions[\s\S]*account: 'Account /);
    // @ts-expect-error the params are those of another action
    outcome.thenSchedules({ at: later, action: GreetAction, params: { wallet: 1 } }).catch(() => {});
    // @ts-expect-error the params are those of another action
    outcome.thenSchedules(() => [{ at: later, action: GreetAction, params: { wallet: 1 } }]).catch(() => {});
  });

  test('takes its id, and with it its shard, from the first staged model', async () => {
    const model = account(second);
    const { result } = await scripted<string>([first, second])
      .given(model)
      .when((action) => {
        action.plan().update(model.credit(one));
        return action.plan().schedule(later, ScriptedAction, params).id;
      })
      .thenTouches(second)
      .performed();
    expect(ShardedId.named('Schedule', result).resolveShardIdentifier()).toBe(second);
  });

  test('is dropped if its own plan cancels it', async () => {
    await scripted()
      .when((action) => {
        action.plan().cancelSchedule(action.plan().schedule(later, ScriptedAction, params).id);
      })
      .thenNothing();
  });
});
