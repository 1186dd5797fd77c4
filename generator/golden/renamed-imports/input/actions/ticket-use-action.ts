import * as fw from 'fw-actions';
import { Action as Base, FwAction as Registered, HttpRoute as Route, type Id as Reference } from 'fw-actions';
import type { Clock } from './clock.js';
import type { Pass } from '../models/index.js';

/** Shadows the marker of the package: not an action. */
function FwAction(_target: object): void {}

@FwAction
export class Decoy {}

export type TicketUseParams = { readonly ticketId: Reference<Pass> } & { readonly at?: Date };

@Registered
@Route('PUT', '/tickets/{ticketId}')
export class TicketUseAction extends Base<TicketUseParams, void> {
  constructor(clock: fw.Clock, ticking: Clock) {
    super(clock);
    ticking.tick();
  }

  protected perform(_principal: fw.Principal, _params: TicketUseParams): void {}
}
