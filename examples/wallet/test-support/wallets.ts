import {
  type Currency,
  currency,
  Decimal,
  ExecutionConfiguration,
  ShardedId,
  type ShardIdentifier,
  type Uuid,
} from 'fw-actions';
import { type ApplicationSpecs, applicationSpecs, persisted, VirtualClock } from 'fw-actions/testing';
import { application } from '../generated/application.js';
import { WalletBuilder } from '../generated/wallet.js';
import { Wallet, type WalletState } from '../models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../shards.js';

export const OWNER: Uuid = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';

/** Opening date of the specifications' wallets. */
export const OPENED_AT: Date = new Date('2024-06-01T08:00:00.000Z');
/** Time at which the specifications' actions run. */
export const NOW: Date = new Date('2025-03-01T12:00:00.000Z');

/** The relevant facts of a stored wallet. */
export interface StoredWallet {
  readonly balance?: string;
  /** Default EUR. */
  readonly currency?: Currency;
  readonly version?: number;
  readonly state?: WalletState;
  /** Default: the global one. */
  readonly shard?: ShardIdentifier;
}

/** A wallet as stored in the database. */
export function storedWallet(facts: StoredWallet = {}): Wallet {
  const { balance = '100', version = 1, state = 'OPENED', shard = GLOBAL_SHARD } = facts;
  const wallet = WalletBuilder.wallet()
    .id(ShardedId.generate(Wallet, shard))
    .state(state)
    .createdDate(OPENED_AT)
    .withInitialVersion()
    .ownerId(OWNER)
    .currency(facts.currency ?? currency('EUR'))
    .balance(new Decimal(balance))
    .build();
  return persisted(wallet, version);
}

/** Specifications of the wallet's actions, wired by the generated code. */
export const specs: ApplicationSpecs = applicationSpecs(application, {
  clock: new VirtualClock(NOW),
  shards: [GLOBAL_SHARD, MEXICO_SHARD],
  principal: { name: 'olivia', claims: { role: 'operator' } },
});

/** The settings of a request with `If-Match`. */
export function ifVersion(wallet: Wallet, version: number): ExecutionConfiguration {
  return ExecutionConfiguration.Builder.executionConfiguration().ifVersion(wallet.id, version).build();
}
