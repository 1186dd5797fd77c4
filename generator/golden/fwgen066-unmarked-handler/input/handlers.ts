import { type EventEnvelope, type EventHandler, FwEventHandler } from 'fw-actions';
import { Account, AccountOpened } from './account.js';

@FwEventHandler
export class MarkedHandler implements EventHandler<AccountOpened> {
  async handle(_envelope: EventEnvelope<AccountOpened>): Promise<void> {}
}

export class LooseHandler {
  async handle(_envelope: EventEnvelope<AccountOpened>): Promise<void> {}
}

/** A base class needs no mark. */
export abstract class BaseHandler implements EventHandler<AccountOpened> {
  abstract handle(envelope: EventEnvelope<AccountOpened>): Promise<void>;
}

/** Handles something else. */
export class RequestHandler {
  handle(account: Account): AccountOpened {
    return new AccountOpened(account.owner);
  }
}
