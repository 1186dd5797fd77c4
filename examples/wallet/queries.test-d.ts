import {
  type EventEnvelope,
  type FoundModels,
  type Page,
  type PageRequest,
  type PartialPage,
  Repository,
  type ScatterResult,
  ShardIdentifier,
} from 'fw-actions';
import { expectTypeOf } from 'vitest';
import { WalletDepositMoneyAction } from './actions/wallet-deposit-money-action.js';
import type { WalletMoneyDepositedEvent } from './events/wallet-money-deposited-event.js';
import type { WalletTables } from './generated/wallet.js';
import type { Wallet } from './models/wallet.js';

/** The types of a repository's queries and lists, and the mistakes that they refuse. */
export class WalletQueries extends Repository<Wallet, WalletTables> {
  async readsModels(wallet: Wallet): Promise<void> {
    expectTypeOf(await this.getById(wallet.id)).toEqualTypeOf<Wallet>();
    expectTypeOf(await this.findById(wallet.id)).toEqualTypeOf<Wallet | undefined>();
    expectTypeOf(await this.findAllByIds([wallet.id])).toEqualTypeOf<FoundModels<Wallet>>();
    // @ts-expect-error a number is not an id
    await this.getById(1);
  }

  async queriesColumns(): Promise<void> {
    const db = this.queries(ShardIdentifier.of(0, 0));
    const rows = await db.selectFrom('wallets').select(['id', 'version']).execute();
    expectTypeOf(rows[0]).toExtend<{ readonly id: string } | undefined>();
    // @ts-expect-error the table has the column owner_id, not the field
    db.selectFrom('wallets').select('ownerId');
    // @ts-expect-error the model has one table
    db.selectFrom('transfers');
    const merged = this.scatter(async (shard) => shard.selectFrom('wallets').select('state').execute());
    expectTypeOf(merged).toExtend<Promise<ScatterResult<{ state: string }>>>();
  }

  async pagesLists(request: PageRequest): Promise<void> {
    const page = await this.findPage(request);
    expectTypeOf(page).toEqualTypeOf<Page<Wallet>>();
    // A cursor is a text, and null on the last page: the next request accepts it, but not null.
    expectTypeOf(page.next).toEqualTypeOf<string | null>();
    await this.findPage({ cursor: page.next ?? undefined });
    // @ts-expect-error null is the end of the list, not its beginning
    await this.findPage({ cursor: page.next });
    await this.findPage(request, { where: (query) => query, filters: { owner: 'alice' } });
    // @ts-expect-error a filter is a value that a cursor can be compared by
    await this.findPage(request, { filters: { since: new Date() } });
    expectTypeOf(await this.findPartialPage(request)).toEqualTypeOf<PartialPage<Wallet>>();
  }

  async limitsAndStreams(): Promise<void> {
    const many = await this.findMany({ limit: 10, orderBy: [{ field: 'balance', direction: 'desc' }] });
    expectTypeOf(many).toEqualTypeOf<readonly Wallet[]>();
    // @ts-expect-error a list needs a limit
    await this.findMany({});
    // @ts-expect-error a wallet has no such field
    await this.findMany({ limit: 10, orderBy: [{ field: 'owner_id' }] });
    // @ts-expect-error the table has no such column
    await this.findMany({ limit: 10, where: (query) => query.where('ownerId', '=', '') });
    expectTypeOf(this.stream({ pageSize: 100 })).toEqualTypeOf<AsyncGenerator<Wallet, void, undefined>>();
  }
}

declare const queries: WalletQueries;
// @ts-expect-error queries belong to the repository: actions call its methods
queries.findMany({ limit: 10 });

/** The types of a handler's envelope. */
export async function handles(envelope: EventEnvelope<WalletMoneyDepositedEvent>): Promise<void> {
  expectTypeOf(envelope.event).toEqualTypeOf<WalletMoneyDepositedEvent>();
  expectTypeOf(envelope).toExtend<EventEnvelope>();
  expectTypeOf(envelope.signal).toEqualTypeOf<AbortSignal>();
  const amount = envelope.event.amount;
  const walletId = envelope.modelId;
  // @ts-expect-error the id of the log is a text: the application must make it an id of its model
  await envelope.execute(WalletDepositMoneyAction, { walletId, amount });
  // @ts-expect-error the amount is missing
  await envelope.execute(WalletDepositMoneyAction, {});
  // @ts-expect-error an envelope is read-only
  envelope.attempt = 2;
}
