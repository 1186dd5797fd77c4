import {
  Action,
  Allow,
  type Clock,
  type Currency,
  Decimal,
  FwAction,
  HttpRoute,
  type Principal,
  type Uuid,
} from 'fw-actions';
import { Wallet } from '../models/wallet.js';
import { WalletResponse } from '../responses/wallet-response.js';
import { ownWallets } from '../rules.js';
import { shardOfCountry } from '../shards.js';

export interface WalletCreateParams {
  /** `MX` places the wallet on the shard of Mexico, any other country on the global one. */
  readonly country: string;
  readonly ownerId: Uuid;
  readonly currency: Currency;
  /**
   * The opening balance, `"0"` if absent.
   * @label balance
   */
  readonly initialBalance?: Decimal;
}

/** Opens a wallet. */
@FwAction
@HttpRoute('POST', '/wallets', {
  status: 201,
  response: WalletResponse,
  location: '/wallets/{id}',
  etag: 'version',
  tag: 'Wallets',
  example: {
    country: 'MX',
    ownerId: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10',
    currency: 'MXN',
    initialBalance: '100',
  },
})
@Allow(ownWallets)
export class WalletCreateAction extends Action<WalletCreateParams, Wallet> {
  constructor(clock: Clock) {
    super(clock);
  }

  protected perform(_principal: Principal, params: WalletCreateParams): Wallet {
    const { country, ownerId, currency, initialBalance = new Decimal(0) } = params;
    const shard = shardOfCountry(country);
    return this.plan().add(Wallet.createWallet(shard, ownerId, currency, initialBalance, this.clock.now()));
  }
}
