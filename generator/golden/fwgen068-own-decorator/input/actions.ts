import { Action, Allow, everyone, FwAction } from 'fw-actions';
import { Command, Get, Logged, Renamed } from './decorators.js';

@Command()
export class CloseAction extends Action<void, void> {
  protected perform(): void {}
}

@FwAction
@Allow(everyone)
@Get('/things')
export class ReadAction extends Action<void, void> {
  protected perform(): void {}
}

@Renamed
@Logged
export class NamedAction extends Action<void, void> {
  protected perform(): void {}
}
