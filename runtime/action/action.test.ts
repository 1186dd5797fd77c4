import { describe, expect, test } from 'vitest';
import { systemClock } from '../domain/clock.js';
import type { Principal } from '../domain/principal.js';
import { PlanMisuseError } from '../errors.js';
import { Action, startPerform } from './action.js';
import { ActionPlan } from './action-plan.js';
import { currentPerformScope, runInPerformScope } from './perform-scope.js';

class EchoAction extends Action<{ readonly text: string }, string> {
  planOutside(): ActionPlan {
    return this.plan();
  }

  protected perform(principal: Principal, { text }: { readonly text: string }): string {
    return `${principal.name}: ${text}, ${this.plan().items.length} staged`;
  }
}

describe('Action', () => {
  test('runs perform with the principal, the params and the plan of its attempt', () => {
    const result = startPerform(
      new EchoAction(systemClock),
      new ActionPlan(systemClock),
      { name: 'alice', claims: {} },
      { text: 'hi' },
    );
    expect(result).toBe('alice: hi, 0 staged');
  });

  test('has no plan outside perform', () => {
    expect(() => new EchoAction(systemClock).planOutside()).toThrow(PlanMisuseError);
  });
});

describe('runInPerformScope', () => {
  const scope = {
    actionName: 'Echo',
    plan: new ActionPlan(systemClock),
    signal: undefined,
    remainingMs: () => 1,
  };

  test('applies only to the work and everything that it awaits', async () => {
    expect(currentPerformScope()).toBeUndefined();
    const seen = runInPerformScope(scope, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return currentPerformScope();
    });
    expect(currentPerformScope()).toBeUndefined();
    expect(await seen).toBe(scope);
  });

  test('keeps concurrent runs of perform apart', async () => {
    const names = await Promise.all(
      ['a', 'b', 'c'].map((actionName) =>
        runInPerformScope({ ...scope, actionName }, async () => {
          await Promise.resolve();
          return currentPerformScope()?.actionName;
        }),
      ),
    );
    expect(names).toEqual(['a', 'b', 'c']);
  });
});
