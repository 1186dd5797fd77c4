import { Action, Allow, everyone, FwAction, HttpRoute, type Principal } from 'fw-actions';
import { GLOBAL, MEXICO } from './shards.js';
import { Thing } from './thing.js';

/**
 * Both, and callers allow it.
 * @crossShard
 */
@FwAction
@Allow(everyone)
@HttpRoute('POST', '/twins')
export class MakeTwinsAction extends Action<void, void> {
  protected perform(_principal: Principal): void {
    const now = this.clock.now();
    this.plan().add(Thing.make(GLOBAL, now));
    this.plan().add(Thing.make(MEXICO, now));
  }
}
