import { Action, type EventEnvelope, FwAction, FwEventHandler, FwSaga, HttpRoute, Repository, Saga } from 'fw-actions';
import { GoneEvent, GoneResponse } from './gone.js';

@FwEventHandler
export class FirstHandler {
  async handle(_e: EventEnvelope<GoneEvent>): Promise<void> {}
}
@FwEventHandler({ event: GoneEvent })
export class SecondHandler {
  async handle(_e: unknown): Promise<void> {}
}
@FwEventHandler
export class ThirdHandler {
  async handle(_e: EventEnvelope<Undeclared>): Promise<void> {}
}
@FwSaga
export class GoneSaga extends Saga<Gone> {
  readonly state = Gone;
  readonly steps = {};
}
export class GoneRepository extends Repository<Gone> {}

@FwAction
@HttpRoute('GET', '/a', { response: GoneResponse })
export class ReadAction extends Action<void, Gone> {
  protected perform(): never { throw new Error(); }
}
@FwAction
@HttpRoute('GET', '/b', { response: Undeclared })
export class ListAction extends Action2<void, void> {
  protected perform(): never { throw new Error(); }
}
@FwAction
@HttpRoute('GET', '/c', { response: Undeclared })
export class FindAction extends Action<void, void> {
  protected perform(): never { throw new Error(); }
}
