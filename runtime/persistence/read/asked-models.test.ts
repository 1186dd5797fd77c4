import { expect, test } from 'vitest';
import { ActionPlan } from '../../action/action-plan.js';
import { runInPerformScope } from '../../action/perform-scope.js';
import { systemClock } from '../../domain/clock.js';
import { ShardedId } from '../../domain/id.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { Guest, GuestRepository } from '../../execution/test-support/guests.js';
import type { RepositoryContext } from './repository.js';

const HERE = ShardIdentifier.of(0, 0);

test.each([
  ['an id', (guests: GuestRepository) => guests.findById(ShardedId.generate(Guest, HERE))],
  ['a key', (guests: GuestRepository) => guests.findByKey({ email: 'ana@hotel.example' }, HERE)],
])('a look-up by %s that finds nothing is reported to the rule of the action', async (_, look) => {
  const nothing = async (): Promise<undefined> => undefined;
  const context = { defaultShard: HERE, read: nothing, readByKey: nothing } as unknown as RepositoryContext;
  const asked: string[] = [];
  const access = { ask: (name: string) => asked.push(name) } as never;
  const scope = { actionName: 'Some', plan: new ActionPlan(systemClock, HERE), signal: undefined, access };
  const work = (): Promise<unknown> => look(new GuestRepository(context));
  expect(await runInPerformScope({ ...scope, remainingMs: () => 1_000 }, work)).toBeUndefined();
  expect(asked).toEqual(['Guest']);
});
