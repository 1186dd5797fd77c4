import { Action, FwAction } from 'fw-actions';

@FwAction
export abstract class SomeAction<T> extends Action<void, T> {}
