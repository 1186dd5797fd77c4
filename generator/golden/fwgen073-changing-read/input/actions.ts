import { Action, Allow, everyone, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import type { ThingRepository } from './generated/thing.js';
import type { Thing } from './thing.js';

export interface ThingParams {
  readonly thingId: Id<Thing>;
}

@FwAction
@Allow(everyone)
@HttpRoute('GET', '/things/{thingId}/use')
export class UseThingAction extends Action<ThingParams, void> {
  readonly #things: ThingRepository;

  constructor(things: ThingRepository) {
    super();
    this.#things = things;
  }

  protected async perform(_principal: Principal, { thingId }: ThingParams): Promise<void> {
    const plan = this.plan();
    const thing = await this.#things.getById(thingId);
    plan.update(thing.use());
  }
}

/** Writes nothing. */
@FwAction
@Allow(everyone)
@HttpRoute('GET', '/things/{thingId}')
export class GetThingAction extends Action<ThingParams, void> {
  readonly #things: ThingRepository;

  constructor(things: ThingRepository) {
    super();
    this.#things = things;
  }

  protected async perform(_principal: Principal, { thingId }: ThingParams): Promise<void> {
    this.plan().expect(await this.#things.getById(thingId));
  }
}
