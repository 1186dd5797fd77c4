import { expect, test } from 'vitest';
import { type Bundling, storedNames } from './bundle-wallet.js';

/** The names that a transfer stores, as its sources spell them. */
const NAMES = [
  'action Saga.move',
  'action TransferInitiateAction',
  'action TransferSaga.INITIATED',
  'action WalletCreateAction',
  'event Transfer TransferCompletedEvent',
  'event Transfer TransferInitiatedEvent',
  'event Wallet WalletCreatedEvent',
  'event Wallet WalletMoneyDepositedEvent',
  'event Wallet WalletMoneyWithdrawnEvent',
  'id Transfer',
  'saga TransferSaga',
];

const plain: Bundling = { by: 'esbuild', minify: false, keepNames: false, decorators: 'experimental' };
const minified: Bundling = { ...plain, minify: true };
const FAST: readonly Bundling[] = [minified, { ...minified, by: 'rolldown' }];
const ALL: readonly Bundling[] = [
  plain,
  ...FAST,
  { ...plain, decorators: 'standard' },
  { ...minified, keepNames: true },
  { ...minified, decorators: 'standard' },
  { ...minified, decorators: 'standard', keepNames: true },
  { ...plain, by: 'rolldown' },
  { ...minified, by: 'rolldown', keepNames: true },
];

/** `npm run proof:bundles` runs all; the test command those that shorten names. */
const bundlings = process.env['FW_PROOF_BUNDLES'] === undefined ? FAST : ALL;

test.each(bundlings)(
  'a bundle stores the names of the sources: %o',
  { timeout: 240_000 },
  async (bundling) => {
    expect(await storedNames(bundling)).toEqual(NAMES);
  },
);
