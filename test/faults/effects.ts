import type { EventRow, ShardRows } from './stored-rows.js';

export type EffectKind = 'created' | 'deposited' | 'withdrawn';

/** One change of one wallet. */
export interface Effect {
  readonly kind: EffectKind;
  /** The request that caused it: its owner or its amount, which are unique to a request. */
  readonly mark: string;
  /** The wallet's balance after the change. */
  readonly balance: string;
  readonly event: EventRow;
}

/** All changes on these shards. */
export function effectsOf(shards: readonly ShardRows[]): readonly Effect[] {
  return shards.flatMap(({ events }) => events.map(toEffect));
}

function toEffect(event: EventRow): Effect {
  const { amount = '', newBalance = '', ownerId = '', initialBalance = '' } = event.payload;
  switch (event.event_type) {
    case 'WalletCreatedEvent':
      return { kind: 'created', mark: ownerId, balance: initialBalance, event };
    case 'WalletMoneyWithdrawnEvent':
      return { kind: 'withdrawn', mark: amount, balance: newBalance, event };
    default:
      return { kind: 'deposited', mark: amount, balance: newBalance, event };
  }
}
