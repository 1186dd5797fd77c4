import { expectTypeOf } from 'vitest';
import type { Decimal } from '../domain/decimal.js';
import type { Id, ShardedId } from '../domain/id.js';
import type { Caller, Principal } from '../domain/principal.js';
import { Account } from '../domain/test-support/account.js';
import type { Note } from '../domain/test-support/note.js';
import type { EventEnvelope } from '../events/log/event-envelope.js';
import type { ActionExecutor } from '../execution/action-executor.js';
import { step } from '../sagas/saga-step.js';
import { type ApplicationSpecs, actionSpec } from '../testing/index.js';
import { Action } from './action.js';
import type { Default } from './action-input.js';
import type { ActionPlan } from './action-plan.js';
import type { ActionRegistry } from './action-registry.js';

interface CreditParams {
  readonly accountId: Id<Account>;
  readonly amount: Decimal;
  readonly note?: string;
}

class CreditAction extends Action<CreditParams, Account> {
  protected perform(_principal: Principal, _params: CreditParams): Promise<Account> {
    throw new Error('types only');
  }
}

interface ListParams {
  readonly accountId: Id<Account>;
  readonly limit: Default<number>;
  readonly order: Default<'up' | 'down'>;
}

class ListAction extends Action<ListParams, readonly Account[]> {
  protected perform(_principal: Principal, { limit, order }: ListParams): readonly Account[] {
    expectTypeOf(limit).toExtend<number>();
    expectTypeOf(order).toExtend<'up' | 'down'>();
    return [];
  }
}

class TouchAction extends Action<{ readonly accountId: Id<Account> }, void> {
  protected perform(): void {}
}

declare const executor: ActionExecutor;
declare const registry: ActionRegistry;
declare const plan: ActionPlan;
declare const envelope: Pick<EventEnvelope<never>, 'execute'>;
declare const specs: ApplicationSpecs;
declare const accountId: ShardedId<Account>;
declare const noteId: Id<Note>;
declare const amount: Decimal;
const principal: Caller = () => 'alice';

/** Only compiled, never run. */
export async function promises(): Promise<void> {
  // The result type follows from the class.
  expectTypeOf(
    await executor.execute(principal, CreditAction, { accountId, amount }),
  ).toEqualTypeOf<Account>();
  expectTypeOf(await executor.execute(principal, TouchAction, { accountId })).toEqualTypeOf<void>();
  expectTypeOf(registry.find(CreditAction).create()).toEqualTypeOf<Action<CreditParams, Account>>();
  await executor.execute({ name: 'alice' }, CreditAction, { accountId, amount, note: 'rent' });

  // @ts-expect-error the amount is missing
  await executor.execute(principal, CreditAction, { accountId });
  // @ts-expect-error a number is not a decimal
  await executor.execute(principal, CreditAction, { accountId, amount: 5 });
  // @ts-expect-error the id of another model
  await executor.execute(principal, CreditAction, { accountId: noteId, amount });
  // @ts-expect-error a text is not an id
  await executor.execute(principal, CreditAction, { accountId: accountId.getValue(), amount });
  // @ts-expect-error the action has no such param
  await executor.execute(principal, CreditAction, { accountId, amount, amout: amount });
  // @ts-expect-error the class is not an action
  await executor.execute(principal, Account, { accountId, amount });
  // @ts-expect-error a principal has a name
  await executor.execute({}, CreditAction, { accountId, amount });

  // A param with a default is optional for callers, and present in `perform`.
  await executor.execute(principal, ListAction, { accountId });
  await executor.execute(principal, ListAction, { accountId, limit: 5, order: 'up' });
  plan.schedule(new Date(), ListAction, { accountId, limit: 5 });
  step<Account, ListParams>(ListAction, { params: () => ({ accountId }), done: (account) => account });
  await envelope.execute(ListAction, { accountId });
  await specs.action(ListAction).when({ accountId });
  // @ts-expect-error a text is not a number
  await executor.execute(principal, ListAction, { accountId, limit: '5' });
  // @ts-expect-error a param without a default is missing
  await executor.execute(principal, ListAction, { limit: 5 });
  // @ts-expect-error the action has no such param
  await executor.execute(principal, ListAction, { accountId, limt: 5 });

  const action = registry.find(CreditAction).create();
  // @ts-expect-error only the executor calls perform
  action.perform(principal, { accountId, amount });
  // @ts-expect-error the plan is available only inside perform
  action.plan();

  // The types of the test kit follow from the class too.
  const spec = actionSpec({ create: (kit) => new CreditAction(kit.clock) });
  expectTypeOf((await spec.when({ accountId, amount }).performed()).result).toEqualTypeOf<Account>();
  spec.when({ accountId, amount }).thenUpdated(Account, { balance: amount, version: 2 });
  // @ts-expect-error the amount is missing
  spec.when({ accountId });
  // @ts-expect-error the model has no such field
  spec.when({ accountId, amount }).thenUpdated(Account, { balanse: amount });
  // @ts-expect-error a number is not a decimal
  spec.when({ accountId, amount }).thenReturns({ balance: 5 });
  // @ts-expect-error a method is not a field
  spec.when({ accountId, amount }).thenUpdated(Account, { copy: undefined });
}
