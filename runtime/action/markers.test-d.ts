import type { Id } from '../domain/id.js';
import { Model } from '../domain/model.js';
import { Allow, everyone } from './access-rule.js';
import { Action } from './action.js';
import { AutoBuilder, FwAction, FwEventHandler, HttpRoute, Key } from './markers.js';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  @Key
  readonly name!: string;
  @Key('code')
  readonly code!: string;
}

@FwAction()
@Allow(everyone)
@HttpRoute('POST', '/things')
export class ThingAction extends Action<void, void> {
  protected perform(): void {}
}

// @ts-expect-error a key consists of fields
@Key('name')
// @ts-expect-error the same without a name
@Key
@AutoBuilder
export class Keyed extends Model<Keyed, Id<Keyed>, 'NEW'> {
  readonly name!: string;
}

export class Misplaced extends Action<void, void> {
  // @ts-expect-error rules are of classes
  @Allow(everyone)
  // @ts-expect-error routes are of classes
  @HttpRoute('POST', '/things')
  // @ts-expect-error actions are classes
  @FwAction
  protected perform(): void {}

  // @ts-expect-error handlers are classes
  @FwEventHandler()
  on(): void {}
}
