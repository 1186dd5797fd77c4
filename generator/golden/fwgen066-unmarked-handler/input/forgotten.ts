import type { EventEnvelope, EventHandler } from 'fw-actions';
import type { AccountOpened } from './account.js';

/** Alone in its file, which has no decorator. */
export class ForgottenHandler implements EventHandler<AccountOpened> {
  async handle(_envelope: EventEnvelope<AccountOpened>): Promise<void> {}
}
