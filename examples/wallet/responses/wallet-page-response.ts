import type { Page } from 'fw-actions';
import type { Wallet } from '../models/wallet.js';
import { WalletResponse } from './wallet-response.js';

/** One page of wallets. */
export class WalletPageResponse {
  readonly items: readonly WalletResponse[];
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null;

  private constructor(page: Page<Wallet>) {
    this.items = page.items.map(WalletResponse.from);
    this.next = page.next;
  }

  static from(page: Page<Wallet>): WalletPageResponse {
    return new WalletPageResponse(page);
  }
}
