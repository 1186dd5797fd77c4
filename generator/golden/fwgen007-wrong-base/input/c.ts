import { Action, FwAction } from 'fw-actions';

@FwAction
export class LooseAction extends Action {}

@FwAction
export class PlainAction {}
