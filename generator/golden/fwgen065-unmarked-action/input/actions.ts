import { Action, FwAction } from 'fw-actions';

/** A base class needs no mark. */
abstract class QuietAction<Params> extends Action<Params, void> {
  protected perform(): void {}
}

@FwAction
export class MarkedAction extends QuietAction<void> {}

export class ForgottenAction extends Action<void, void> {
  protected perform(): void {}
}

/** Its base class extends Action. */
export class AlsoForgottenAction extends QuietAction<void> {}
