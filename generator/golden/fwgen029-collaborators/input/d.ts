import type { GadgetRepository, OtherRepository, ThingRepository, Things } from '@acme/generated/thing.js';
import { Action, type Clock, FwAction } from 'fw-actions';

@FwAction
export class PackagedAction extends Action<Record<string, never>, void> {
  constructor(
    clock: Clock,
    readonly things: ThingRepository,
    readonly own: Things,
    readonly others: OtherRepository,
    readonly gadgets: GadgetRepository,
  ) {
    super(clock);
  }
}
