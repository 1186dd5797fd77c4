import { Action, FwAction, HttpRoute, type Principal } from 'fw-actions';

@FwAction
@HttpRoute('POST', '/a')
@HttpRoute('POST', '/b')
export class TwiceAction extends Action<void, void> {
  protected perform(_principal: Principal): void {}
}
