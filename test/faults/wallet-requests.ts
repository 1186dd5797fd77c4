import { Decimal, parseUuid, plainDecimal, ShardedId, type Uuid } from 'fw-actions';
import { Wallet } from '../../examples/wallet/models/wallet.js';
import type { WalletRequest } from './history.js';
import type { SeededRandom } from './seeded-random.js';

/** The frequencies of customers' requests. */
export interface RequestMix {
  readonly kinds: Readonly<Record<WalletRequest['kind'], number>>;
  /** Share of requests under an idempotency key, where one is allowed. */
  readonly keyed: number;
  /** Share of requests on existing wallets that go to one of a few hot ones. */
  readonly hot: number;
}

export const EVERY_REQUEST: RequestMix = {
  kinds: { create: 15, deposit: 45, withdraw: 20, transfer: 20 },
  keyed: 0.4,
  hot: 0.3,
};

/** All customers use the same few wallets. */
export const HOT_WALLETS: RequestMix = {
  kinds: { create: 0, deposit: 70, withdraw: 20, transfer: 10 },
  keyed: 0.2,
  hot: 1,
};

/** All requests have a key, and none needs two shards. */
export const KEYED_REQUESTS: RequestMix = {
  kinds: { create: 30, deposit: 60, withdraw: 10, transfer: 0 },
  keyed: 1,
  hot: 0.3,
};

/** The first wallets are the hot ones. */
const HOT_COUNT = 4;
/** The shard of `MX` is not the home of a key, which for creations is the default shard. */
const COUNTRIES = ['MX', 'US', 'DE', 'MX'];

/** Creates random requests. Each gets a number, and from it a unique mark. */
export class WalletRequests {
  /** Ids of wallets that are known to exist. */
  readonly wallets: string[] = [];
  readonly #random: SeededRandom;
  readonly #mix: RequestMix;
  readonly #run: string;
  #count = 0;

  /** @param run distinguishes the keys and owners of this run from those of others */
  constructor(random: SeededRandom, mix: RequestMix, run: string) {
    this.#random = random;
    this.#mix = mix;
    this.#run = run;
  }

  next(): WalletRequest {
    const kind = this.wallets.length < HOT_COUNT ? 'create' : this.#random.weighted(this.#mix.kinds);
    const number = this.#nextNumber();
    const key = this.#random.chance(this.#mix.keyed) ? `${this.#run}-${number}` : undefined;
    switch (kind) {
      case 'create':
        return this.#create(number, key, this.#random.pick(COUNTRIES) ?? 'US');
      case 'deposit':
      case 'withdraw':
        return { kind, number, key, walletId: this.#wallet(), amount: markedAmount(number) };
      case 'transfer':
        return this.#transfer(number, key);
    }
  }

  /** A creation in this country. */
  create(country: string): WalletRequest {
    return this.#create(this.#nextNumber(), undefined, country);
  }

  #create(number: number, key: string | undefined, country: string): WalletRequest {
    const initialBalance = this.#random.chance(0.9) ? '1000' : '0';
    return { kind: 'create', number, key, country, ownerId: markedOwner(number), initialBalance };
  }

  /** Over two shards no key is allowed, because the shard transactions commit independently. */
  #transfer(number: number, key: string | undefined): WalletRequest {
    const sourceId = this.#wallet();
    let destId = this.#wallet();
    for (let turn = 0; destId === sourceId; turn += 1) destId = this.wallets[turn] ?? sourceId;
    const allowedKey = shardOf(sourceId) === shardOf(destId) ? key : undefined;
    return { kind: 'transfer', number, key: allowedKey, sourceId, destId, amount: markedAmount(number) };
  }

  #wallet(): string {
    const known = this.#random.chance(this.#mix.hot) ? this.wallets.slice(0, HOT_COUNT) : this.wallets;
    const wallet = this.#random.pick(known);
    if (wallet === undefined) throw new Error('There is no wallet yet');
    return wallet;
  }

  #nextNumber(): number {
    this.#count += 1;
    return this.#count;
  }
}

/** `(group, member)` of a wallet's id. */
export function shardOf(walletId: string): string {
  return ShardedId.of(Wallet, walletId).resolveShardIdentifier().toString();
}

/** An amount that belongs to this request alone: 1.0001, 1.0002... */
export function markedAmount(number: number): string {
  return plainDecimal(new Decimal(10_000 + number).dividedBy(10_000));
}

function markedOwner(number: number): Uuid {
  return parseUuid(`6f3f6d58-6a8e-4b1e-9d5b-${String(number).padStart(12, '0')}`);
}
