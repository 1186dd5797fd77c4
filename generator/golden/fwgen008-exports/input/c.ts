import { Action, FwAction } from 'fw-actions';

@FwAction
export default class extends Action<void, void> {}
