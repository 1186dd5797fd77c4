import { expect, test } from 'vitest';
import { Action } from '../action/action.js';
import type { ActionPlan } from '../action/action-plan.js';
import type { Clock } from '../domain/clock.js';
import type { Principal } from '../domain/principal.js';
import { DuplicateKeyError, ModelNotFoundError, UniqueViolationError } from '../errors.js';
import { HERE, THERE } from '../execution/test-support/accounts.js';
import { Guest, GuestRepository, newGuest } from '../execution/test-support/guests.js';
import { actionSpec } from './action-spec.js';
import { persisted } from './persisted.js';

type Script = (plan: ActionPlan, guests: GuestRepository) => Promise<unknown> | unknown;

class ScriptAction extends Action<Script, unknown> {
  readonly #guests: GuestRepository;

  constructor(clock: Clock, guests: GuestRepository) {
    super(clock);
    this.#guests = guests;
  }

  protected async perform(_principal: Principal, script: Script): Promise<unknown> {
    return script(this.plan(), this.#guests);
  }
}

const ann = persisted(newGuest('ann@hotel'));
const gone = persisted(newGuest('bob@hotel').gone());
const hotel = actionSpec({
  create: ({ clock, repositories }) => new ScriptAction(clock, new GuestRepository(repositories)),
}).given(ann, gone);

test('an action under test finds stored models by their keys', async () => {
  const { result } = await hotel
    .when((_, guests) =>
      Promise.all([ann.email, gone.email].map((email) => guests.findByKey({ email }, HERE))),
    )
    .performed();
  expect(result).toEqual([ann, undefined]);
  await hotel.when((_, guests) => guests.getByKey({ email: ann.email }, THERE)).thenFails(ModelNotFoundError);
});

test('an action under test adds a model unless one with its key is stored or staged', async () => {
  await hotel.when((plan, guests) => plan.getOrAdd(guests, newGuest('ann@hotel'))).thenNothing();
  await hotel
    .when(async (plan, guests) => {
      for (let time = 0; time < 2; time += 1) await plan.getOrAdd(guests, newGuest('bob@hotel'));
    })
    .thenAdded(Guest, { email: 'bob@hotel' });
});

test('an action under test cannot take another model’s key, and may take a released one', async () => {
  await hotel.when((plan) => plan.add(newGuest('ann@hotel'))).thenFails(UniqueViolationError);
  const twice: Script = (plan) => [plan.add(newGuest('a@hotel')), plan.add(newGuest('a@hotel'))];
  await hotel.when(twice).thenFails(DuplicateKeyError);
  await hotel
    .when((plan) => [plan.add(newGuest('ann@hotel')), plan.update(ann.renamed('ann@home'))])
    .thenAdded(Guest, { email: 'ann@hotel' })
    .thenUpdated(Guest, { email: 'ann@home' });
});
