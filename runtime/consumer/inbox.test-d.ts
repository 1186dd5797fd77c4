import { expectTypeOf } from 'vitest';
import type { Kysely, Transaction } from '../../node_modules/kysely/dist/cjs/index.js';
import { Inbox, type Reception } from './index.js';

interface Tables {
  readonly payments: { readonly wallet: string };
}

/** An inbox takes the Kysely of another copy than this package's, such as that of another patch version. */
export async function works(database: Kysely<Tables>): Promise<void> {
  const inbox = new Inbox({ database });
  const reception = inbox.once({ source: '/s', id: 'e1' }, async (transaction) => {
    expectTypeOf(transaction).toEqualTypeOf<Transaction<Tables>>();
    // @ts-expect-error there is no such table
    transaction.selectFrom('payment');
    return 5;
  });
  expectTypeOf(await reception).toEqualTypeOf<Reception<number>>();
  // @ts-expect-error a database runs statements
  new Inbox({ database: { transaction: () => database.transaction() } });
}
