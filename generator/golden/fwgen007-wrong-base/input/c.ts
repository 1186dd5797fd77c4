import { Action, FwAction } from 'fw-actions';

@FwAction
export class LooseAction extends Action {}

@FwAction
export class PlainAction {}

abstract class RoundAction<P> extends RoundAction<P> {}

@FwAction
export class CircularAction extends RoundAction<void> {}

abstract class HalfAction extends Action {}

@FwAction
export class DerivedAction extends HalfAction {}
