import { Action, FwAction } from 'fw-actions';

export interface ThingNestActionParams {
  readonly size: number;
  readonly inner?: ThingNestActionParams;
}

@FwAction
export class ThingNestAction extends Action<ThingNestActionParams, void> {
  protected perform(): void {
    throw new Error('not called');
  }
}
