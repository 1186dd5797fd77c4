import { ShardIdentifier } from 'fw-actions';
import type { ShardingInput, ShardingTopology } from 'fw-actions/config';
import { afterEach, describe, expect, test } from 'vitest';
import { databaseHarness } from '../databases/databases.js';
import { testServer } from '../databases/vitest.js';
import { type Bundling, storedNames } from './bundlings.js';

/** The names that the examples store, as their sources spell them. */
const NAMES: readonly string[] = [
  'action BookingHoldAction',
  'action BookingPayAction',
  'action HotelOpenAction',
  'action MemberJoinAction',
  'action PaymentSaga.CHARGING',
  'action PaymentSaga.CONFIRMING',
  'action PointsEarnAction',
  'action Saga.move',
  'action TransferInitiateAction',
  'action TransferSaga.INITIATED',
  'action WalletCreateAction',
  'event Booking BookingConfirmedEvent',
  'event Booking BookingHeldEvent',
  'event Hotel HotelOpenedEvent',
  'event Member MemberChargedEvent',
  'event Member MemberJoinedEvent',
  'event Member PointsEarnedEvent',
  'event Payment PaymentMovedEvent',
  'event Transfer TransferCompletedEvent',
  'event Transfer TransferInitiatedEvent',
  'event Wallet WalletCreatedEvent',
  'event Wallet WalletMoneyDepositedEvent',
  'event Wallet WalletMoneyWithdrawnEvent',
  'handler #schedules',
  'handler PaymentSaga',
  'handler PointsHandler',
  'handler TransferSaga',
  'key of BookingHoldAction',
  'key of BookingPayAction',
  'key of HotelOpenAction',
  'key of MemberJoinAction',
  'key of PointsEarnAction',
  'key of WalletCreateAction',
  'saga PaymentSaga',
  'saga TransferSaga',
  'schedule BookingReleaseAction',
  'schedule Saga.overdue',
  'step CHARGING',
  'step INITIATED',
];

const plain: Bundling = { by: 'esbuild', minify: false, keepNames: false, decorators: 'experimental' };
const minified: Bundling = { ...plain, minify: true };
const both = (bundling: Bundling): readonly Bundling[] => [bundling, { ...bundling, decorators: 'standard' }];
const FAST: readonly Bundling[] = both(minified);
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
  return { defaultShard: { group: 0, member: 0 }, groups: topology.groups.map(inputOf) };
}

function inputOf({
  group,
  name,
  members,
}: ShardingTopology['groups'][number]): ShardingInput['groups'][number] {
  return {
    group,
    name,
    members: members.map(({ shard, name: member, primary: { url, username, password } }) => {
      if (url.kind !== 'postgresql') throw new Error('a shard is no PostgreSQL database');
      const jdbcUrl = `jdbc:postgresql://${url.host}:${url.port}/${url.database}`;
      const primaryConfig = { jdbcUrl, username, password: password?.reveal() };
      return { member: shard.member, name: member, configs: { primaryConfig } };
    }),
  };
}
