import { describe, test } from 'vitest';
import { Allow } from '../action/access-rule.js';
import { Action } from '../action/action.js';
import type { ApplicationDefinition } from '../application-definition.js';
import type { Clock } from '../domain/clock.js';
import { Decimal } from '../domain/decimal.js';
import type { ShardedId } from '../domain/id.js';
import type { Principal } from '../domain/principal.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { Account, AccountCredited, accountModel, newAccount } from '../domain/test-support/account.js';
import {
  ForbiddenError,
  UnknownActionError,
  UnknownModelError,
  UnknownShardError,
  ValidationError,
} from '../errors.js';
import { accountApplication } from '../execution/test-support/accounts.js';
import { Repository } from '../persistence/read/repository.js';
import { applicationSpecs } from './application-specs.js';
import { VirtualClock } from './virtual-clock.js';

interface Bonus {
  amount(): Decimal;
}

/** Credits an account with the amount that a collaborator returns. */
class GrantBonusAction extends Action<{ readonly accountId: ShardedId<Account> }, Account> {
  readonly #accounts: Repository<Account>;
  readonly #bonus: Bonus;

  constructor(clock: Clock, accounts: Repository<Account>, bonus: Bonus) {
    super(clock);
    this.#accounts = accounts;
    this.#bonus = bonus;
  }

  protected async perform(_: unknown, params: { readonly accountId: ShardedId<Account> }): Promise<Account> {
    const account = await this.#accounts.getById(params.accountId);
    return this.plan().update(account.credit(this.#bonus.amount()));
  }
}

interface Place {
  readonly group: number;
  readonly member: number;
}

/** Opens an account on its shard each night; no caller may run it. */
@Allow(() => false)
class NightlyAction extends Action<Place, string> {
  protected perform({ name }: Principal, { group, member }: Place): string {
    this.plan().add(
      newAccount(new Decimal(1), ShardIdentifier.of(group, member)).updatedDate(this.clock.now()).build(),
    );
    return name;
  }
}

class ForgottenAction extends Action<void, void> {
  protected perform(): void {}
}

const application: ApplicationDefinition<{ readonly bonus: Bonus }> = {
  ...accountApplication,
  wire: ({ clock, repositories }, { bonus }) => {
    const accounts = new Repository(repositories, accountModel);
    return [
      {
        name: 'GrantBonus',
        actionClass: GrantBonusAction,
        params: [],
        create: () => new GrantBonusAction(clock, accounts, bonus),
      },
      {
        name: 'Nightly',
        actionClass: NightlyAction,
        params: [],
        schedule: { cron: '0 3 * * *', zone: 'Europe/Berlin', on: 'each-shard', principal: 'opener' },
        create: () => new NightlyAction(clock),
      },
    ];
  },
};

describe('applicationSpecs', () => {
  const now = new Date('2025-03-01T12:00:00.000Z');
  const options = {
    clock: new VirtualClock(now),
    shards: [ShardIdentifier.of(0, 0)],
    collaborators: { bonus: { amount: () => new Decimal(5) } },
  };
  const specs = applicationSpecs(application, options);

  test('wires an action as the application does', async () => {
    const account = newAccount(new Decimal(1)).build();
    await specs
      .action(GrantBonusAction)
      .given(account)
      .when({ accountId: account.id })
      .thenUpdated(Account, { balance: new Decimal(6), updatedDate: now })
      .thenEvents(new AccountCredited(account.id, new Decimal(5)));
  });

  test('uses the configured shards', async () => {
    const foreign = newAccount(new Decimal(1), ShardIdentifier.of(1, 0)).build();
    await specs
      .action(GrantBonusAction)
      .given(foreign)
      .when({ accountId: foreign.id })
      .thenFails(UnknownShardError);
  });

  test('lets time pass until a recurring action is due', async () => {
    const [here, there] = [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0)];
    const spec = applicationSpecs(application, { ...options, shards: [here, there] }).action(NightlyAction);
    const due = new Date('2025-03-02T02:00:00.000Z');
    await spec.whenDue().thenAdded(Account, { updatedDate: due }).thenTouches(here);
    await spec.whenDue(there).thenTouches(there).thenReturns('fw:system:opener');
    await specs
      .action(GrantBonusAction)
      .whenDue()
      .thenFails(ValidationError, 'GrantBonus has no @FwSchedule');
  });

  test('runs an action as a part of the system, to which rules do not apply', async () => {
    const nightly = specs.action(NightlyAction);
    const params = { group: 0, member: 0 };
    await nightly.when(params).thenFails(ForbiddenError, 'spec may not run Nightly on this');
    await nightly.asSystem('opener').when(params).thenReturns('fw:system:opener');
  });

  test('refuses an action that is not registered', async () => {
    await specs.action(ForgottenAction).when().thenFails(UnknownActionError);
  });

  test('refuses an event that is not registered', async () => {
    const account = newAccount(new Decimal(1)).build();
    await applicationSpecs({ ...application, events: [] }, options)
      .action(GrantBonusAction)
      .given(account)
      .when({ accountId: account.id })
      .thenFails(UnknownModelError, 'AccountCredited is not a registered event; run fw-gen generate');
  });

  test('requires collaborators only if there are some', () => {
    // @ts-expect-error the bonus is missing
    applicationSpecs(application);
    // @ts-expect-error the bonus is missing
    applicationSpecs(application, {});
    applicationSpecs({ ...application, wire: () => [], wireHandlers: () => [] } as ApplicationDefinition);
  });
});
