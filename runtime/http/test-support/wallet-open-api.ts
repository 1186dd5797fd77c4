import { openApiDocument } from '../../openapi/document.js';
import type { DocumentedRoute } from '../../openapi/documented-route.js';
import { WalletApplication } from './wallet-server.js';

/** What the comments of some actions say. */
const DOCUMENTED: Readonly<Record<string, Partial<DocumentedRoute>>> = {
  WalletListAction: { doc: 'Lists the wallets of an owner over all shards, oldest first.' },
  WalletCreateAction: { doc: 'Opens a wallet.' },
  WalletDepositMoneyAction: {
    doc: "Puts money into a wallet.\n\nThe owner's balance grows by the amount.\nOther wallets <are> not touched.",
    example: { amount: '50.25', recipient: "O'Brien" },
  },
};

/** The document of three routes. */
export const walletOpenApi: object = openApiDocument(
  new WalletApplication().routes.flatMap((route) => {
    const documented = DOCUMENTED[route.operation];
    return documented === undefined ? [] : [{ ...route, tag: 'Wallets', ...documented }];
  }),
  { title: 'Wallet', version: '1.0.0' },
);
