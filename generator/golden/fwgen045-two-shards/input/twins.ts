import { Action, FwAction, type Principal, ShardIdentifier } from 'fw-actions';
import { GLOBAL, MEXICO } from './shards.js';
import { Thing } from './thing.js';

@FwAction
export class MakeTwinsAction extends Action<void, void> {
  protected perform(_principal: Principal): void {
    const now = this.clock.now();
    this.plan().add(Thing.make(GLOBAL, now));
    this.plan().add(Thing.make(MEXICO, now));
  }
}

/** Either, never both. */
@FwAction
export class MakeEitherAction extends Action<{ readonly country: string }, Thing> {
  protected perform(_principal: Principal, params: { readonly country: string }): Thing {
    if (params.country === 'MX') return this.plan().add(Thing.make(MEXICO, this.clock.now()));
    return this.plan().add(Thing.make(GLOBAL, this.clock.now()));
  }
}

/**
 * Both, and callers allow it.
 * @crossShard
 */
@FwAction
export class MakeBothAction extends Action<void, void> {
  protected perform(_principal: Principal): void {
    this.plan().add(Thing.make(GLOBAL, this.clock.now()));
    this.plan().add(Thing.make(MEXICO, this.clock.now()));
  }
}

/** Never the second one. */
@FwAction
export class MakeOneAction extends Action<void, void> {
  protected perform(_principal: Principal): void {
    this.plan().add(Thing.make(GLOBAL, this.clock.now()));
    return;
    this.plan().add(Thing.make(MEXICO, this.clock.now()));
  }
}

@FwAction
export class MakeLaterAction extends Action<void, void> {
  protected perform(_principal: Principal): void {
    const first = Thing.make(GLOBAL, this.clock.now());
    const second = Thing.make(ShardIdentifier.of(1, 0), this.clock.now());
    this.plan().add(first);
    this.plan().expect(second);
  }
}
