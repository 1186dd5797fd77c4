import type { ApplicationDefinition } from '../../application-definition.js';
import { Decimal } from '../../domain/decimal.js';
import type { AccountCredited } from '../../domain/test-support/account.js';
import type { EventHandler } from '../../events/delivery/handler-descriptor.js';
import type { EventEnvelope } from '../../events/log/event-envelope.js';
import { accountApplication, CreditAction } from '../../execution/test-support/accounts.js';

/** A collaborator that sends letters. */
export interface Letters {
  send(to: string, text: string, id: string): Promise<void>;
}

/** Adds a bonus of a tenth to each large credit, schedules a check of the others, and sends a letter. */
export class BonusHandler implements EventHandler<AccountCredited> {
  readonly #letters: Letters;

  constructor(letters: Letters) {
    this.#letters = letters;
  }

  async handle(envelope: EventEnvelope<AccountCredited>): Promise<void> {
    const { event, id, modelId } = envelope;
    if (event.amount.lessThan(10)) return;
    const amount = event.amount.dividedBy(10);
    if (amount.greaterThan(100)) throw new RangeError('Too large a bonus');
    await envelope.execute(CreditAction, { account: modelId, amount, pin: 'later' });
    await this.#letters.send(modelId, `You got ${amount.toFixed()}`, id);
    await envelope.execute(CreditAction, { account: modelId, amount: new Decimal(1) }, { name: 'thanks' });
  }
}

/** Accounts with the handler, as emitted code would define them. */
export const bonusApplication: ApplicationDefinition<{ readonly letters: Letters }> = {
  ...accountApplication,
  wire: (context) => accountApplication.wire(context, {}),
  wireHandlers: (_, { letters }) => [
    {
      name: 'BonusHandler',
      events: accountApplication.events,
      create: () => new BonusHandler(letters),
    },
  ],
};
