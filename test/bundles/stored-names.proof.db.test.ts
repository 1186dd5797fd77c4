import { ShardIdentifier } from 'fw-actions';
import type { ShardingInput } from 'fw-actions/config';
import { afterEach, describe, expect, test } from 'vitest';
import { topologyYaml } from '../../cli/test-support/topology-yaml.js';
import { databaseHarness } from '../databases/databases.js';
import { testServer } from '../databases/vitest.js';
import { type Bundling, storedNames } from './bundlings.js';

/** The names that the examples store, as their sources spell them. */
const NAMES: readonly string[] = Object.entries({
  action:
    'BookingHoldAction BookingPayAction HotelOpenAction MemberJoinAction PaymentSaga.CHARGING ' +
    'PaymentSaga.CONFIRMING PointsEarnAction Saga.move TransferInitiateAction TransferSaga.INITIATED ' +
    'WalletCreateAction',
  'event Booking': 'BookingConfirmedEvent BookingHeldEvent',
  'event Hotel': 'HotelOpenedEvent',
  'event Member': 'MemberChargedEvent MemberJoinedEvent PointsEarnedEvent',
  'event Payment': 'PaymentMovedEvent',
  'event Transfer': 'TransferCompletedEvent TransferInitiatedEvent',
  'event Wallet': 'WalletCreatedEvent WalletMoneyDepositedEvent WalletMoneyWithdrawnEvent',
  handler: '#schedules PaymentSaga PointsHandler TransferSaga',
  'key of':
    'BookingHoldAction BookingPayAction HotelOpenAction MemberJoinAction PointsEarnAction ' +
    'WalletCreateAction',
  saga: 'PaymentSaga TransferSaga',
  schedule: 'BookingReleaseAction Saga.overdue',
  step: 'CHARGING INITIATED',
}).flatMap(([kind, names]) => names.split(' ').map((name) => `${kind} ${name}`));

const plain: Bundling = { by: 'esbuild', minify: false, keepNames: false, decorators: 'experimental' };
const minified: Bundling = { ...plain, minify: true };
const both = (bundling: Bundling): readonly Bundling[] => [bundling, { ...bundling, decorators: 'standard' }];
const FAST: readonly Bundling[] = [...both(minified), { ...minified, isWhole: true }];
const ALL: readonly Bundling[] = [
  ...both(plain),
  ...FAST,
  ...both({ ...minified, keepNames: true }),
  ...(['rolldown', 'swc'] as const).flatMap((by) => [
    { ...plain, by },
    { ...minified, by },
    { ...minified, by, keepNames: true },
  ]),
  ...([plain, minified, { ...minified, keepNames: true }] as const).map((each) => {
    return { ...each, by: 'swc', decorators: 'standard' } as const;
  }),
  ...both({ ...plain, by: 'tsx', keepNames: true }),
];

/** `npm run proof:bundles` runs all; the test command those that shorten names. */
const isLong = process.env['FW_PROOF_BUNDLES'] !== undefined;
const bundlings = isLong ? ALL : FAST;

const harness = databaseHarness('postgresql', testServer());
afterEach(() => harness.cleanUp());

describe('postgresql', () => {
  test.each(bundlings)(
    'a bundle stores the names of the sources: %o',
    { timeout: 300_000 },
    async (bundling) => {
      const shards = [await twoShards(), await twoShards()];
      expect(await storedNames(bundling, shards)).toEqual(NAMES);
    },
  );

  if (isLong)
    test('rolldown keeps standard decorators in its output, which Node.js refuses', async () => {
      const bundle = storedNames({ ...plain, by: 'rolldown', decorators: 'standard' }, []);
      await expect(bundle).rejects.toThrow('SyntaxError: Invalid or unexpected token');
    }, 300_000);
});

async function twoShards(): Promise<ShardingInput> {
  const topology = await harness.makeTopology({
    shards: [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0)],
    migrated: false,
  });
  const { fw } = JSON.parse(topologyYaml(topology)) as { readonly fw: { readonly sharding: ShardingInput } };
  return fw.sharding;
}
