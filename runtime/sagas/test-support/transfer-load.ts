import { TransferInitiateAction } from '../../../examples/wallet/actions/transfer-initiate-action.js';
import { WalletCloseAction } from '../../../examples/wallet/actions/wallet-close-action.js';
import { WalletCreateAction } from '../../../examples/wallet/actions/wallet-create-action.js';
import { WalletDepositMoneyAction } from '../../../examples/wallet/actions/wallet-deposit-money-action.js';
import type { TransferInitiatedEvent } from '../../../examples/wallet/events/transfer-initiated-event.js';
import { application, type Collaborators } from '../../../examples/wallet/generated/application.js';
import type { Wallet } from '../../../examples/wallet/models/wallet.js';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../../examples/wallet/shards.js';
import { type Application, assembleApplication } from '../../application.js';
import type { ApplicationDefinition } from '../../application-definition.js';
import { currency } from '../../domain/currency.js';
import { Decimal } from '../../domain/decimal.js';
import { type ShardedId, shardOfUuid } from '../../domain/id.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { EventEnvelope } from '../../events/log/event-envelope.js';
import { until } from '../../events/test-support/ledger.js';
import type { Migration } from '../../migration/migration.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { readBooks } from './transfers.js';

export const SHARDS: readonly ShardIdentifier[] = [GLOBAL_SHARD, MEXICO_SHARD];

/** The wallet, and a table for a transactional handler. */
export const loadMigrations: readonly Migration[] = [
  ...application.migrations,
  {
    name: '9001_seen',
    up: 'create table seen (nr bigint generated always as identity, event_id uuid not null)',
  },
];

const WHO = { name: 'alice', claims: { role: 'operator' } } as const;
const OWNER = '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10';
const ONE = new Decimal(1);
const PAUSE_MS = 20;
const COPIED = ['TransferInitiatedEvent', 'TransferCompletedEvent', 'TransferRefundedEvent'];
const SEEN = 'INSERT INTO seen (event_id) VALUES ($1)';
const UNDER_WAY = "SELECT FROM transfers WHERE state NOT IN ('COMPLETED', 'REFUNDED') LIMIT 1";
const LOG = `SELECT id FROM eventlog.events WHERE event_type = ANY($1) ORDER BY transaction_id, position`;

type Copied = EventEnvelope;
type Initiated = EventEnvelope<TransferInitiatedEvent>;

/**
 * Transfers of 1 between wallets of two shards, by several concurrent writers, in a process that survives failovers.
 */
export class TransferLoad {
  readonly application: Application;
  readonly warnings: string[] = [];
  /** Ids of the transfers whose start was acknowledged. */
  readonly acknowledged: Set<string> = new Set();
  /** Ids of the events for which the ordinary handler has credited 1 to its own wallet. */
  readonly receipts: Set<string> = new Set();
  /** Ids of the events for which it has begun to. */
  readonly begun: Set<string> = new Set();
  readonly #databases: DatabaseRegistry;
  readonly #counters = new Map<string, ShardedId<Wallet>>();
  readonly #sources: Wallet[] = [];
  readonly #destinations: ShardedId<Wallet>[] = [];
  readonly #own = new Map<ShardIdentifier, number>();
  #writers: readonly Promise<void>[] = [];
  #isWriting = false;

  constructor(databases: DatabaseRegistry) {
    this.#databases = databases;
    const events = (names: readonly string[]) =>
      application.events.filter(({ name }) => names.includes(name));
    const definition: ApplicationDefinition<Collaborators> = {
      ...application,
      wireHandlers: () => [
        {
          name: 'Receipts',
          events: events(['TransferInitiatedEvent']),
          create: () => ({ handle: (envelope: Initiated) => this.#receipt(envelope) }),
        },
        {
          name: 'Copy',
          events: events(COPIED),
          transactional: true,
          create: () => ({ handle: copy }),
        },
      ],
    };
    this.application = assembleApplication(definition, databases, {
      namespace: 'test.load',
      collaborators: {},
      // Longer than a failover: the new server is available before a lease expires.
      delivery: { leaseMs: 120_000, surveyMs: 200 },
      warn: (message) => void this.warnings.push(message),
    });
  }

  /** Opens wallets on both shards, one closed wallet, and one per source that counts the source's transfers. */
  async open(sourcesPerShard: number): Promise<void> {
    const create = (country: string, balance: number, code = 'EUR'): Promise<Wallet> => {
      const params = {
        country,
        ownerId: OWNER,
        currency: currency(code),
        initialBalance: new Decimal(balance),
      };
      return this.application.executor.execute(WHO, WalletCreateAction, params);
    };
    for (const country of ['US', 'MX']) {
      for (let count = 0; count < sourcesPerShard; count += 1) {
        const source = await create(country, 1_000_000);
        this.#sources.push(source);
        this.#counters.set(source.id.getValue(), (await create('MX', 0, 'MXN')).id);
      }
    }
    const [far, near, closed] = await Promise.all(['MX', 'US', 'MX'].map((country) => create(country, 0)));
    if (far === undefined || near === undefined || closed === undefined) throw new Error('There are three');
    await this.application.executor.execute(WHO, WalletCloseAction, { walletId: closed.id });
    this.#destinations.push(far.id, near.id, far.id, closed.id);
    for (const shard of SHARDS) this.#own.set(shard, await this.#ownMoney(shard));
  }

  /** Starts one writer per source. They run until `stopWriting`. */
  startWriting(): void {
    this.#isWriting = true;
    this.#writers = this.#sources.map((source) => this.#write(source.id));
  }

  async stopWriting(): Promise<void> {
    this.#isWriting = false;
    await Promise.all(this.#writers);
  }

  /** Waits a time, and until each shard has acknowledged more transfers. */
  async grow(leastMs: number, transfers: number): Promise<void> {
    const enough = new Map(SHARDS.map((shard) => [shard, this.#acknowledgedOf(shard) + transfers]));
    const since = performance.now();
    await until(
      () =>
        performance.now() - since >= leastMs &&
        SHARDS.every((shard) => this.#acknowledgedOf(shard) >= (enough.get(shard) ?? 0)),
      leastMs + 60_000,
    );
  }

  /** Waits until every transfer has ended and every event has been delivered, on both shards. */
  async settle(): Promise<void> {
    await until(async () => {
      const underWay = await Promise.all(SHARDS.map((shard) => this.#rows(shard, UNDER_WAY)));
      return underWay.every((rows) => rows.length === 0);
    }, 120_000);
    await until(async () => {
      const lag = await this.application.events.lag();
      return lag.flatMap(({ consumers }) => consumers).every(({ behind }) => behind === 0);
    }, 120_000);
  }

  /**
   * The change of a shard's money since the start, corrected by transfers. Always 0, because both counts change with
   * the money.
   */
  async drift(shard: ShardIdentifier): Promise<number> {
    return (await this.#ownMoney(shard)) - (this.#own.get(shard) ?? Number.NaN);
  }

  /** Money debited for transfers that was neither credited nor refunded. */
  async inFlight(): Promise<number> {
    const books = await Promise.all(SHARDS.map((shard) => readBooks(this.#databases, shard)));
    return books.reduce((sum, { sent, received }) => sum + sent - received, 0);
  }

  /** Number of effects of the ordinary handler. */
  async receiptsCounted(): Promise<number> {
    const text = "SELECT coalesce(sum(balance), 0) FROM wallets WHERE currency = 'MXN'";
    return Number((await this.#rows(MEXICO_SHARD, text))[0]?.[0]);
  }

  /** Ids of a shard's events for the transactional handler, in order, and those that it has handled. */
  async copied(
    shard: ShardIdentifier,
  ): Promise<{ readonly log: readonly string[]; readonly seen: readonly string[] }> {
    const log = await this.#rows(shard, LOG, [`{${COPIED.join(',')}}`]);
    const seen = await this.#rows(shard, 'SELECT event_id FROM seen ORDER BY nr');
    return { log: log.map(([id]) => String(id)), seen: seen.map(([id]) => String(id)) };
  }

  /** Ids of a shard's events for the ordinary handler. */
  async initiated(shard: ShardIdentifier): Promise<readonly string[]> {
    return (await this.#rows(shard, LOG, ['{TransferInitiatedEvent}'])).map(([id]) => String(id));
  }

  async transfers(shard: ShardIdentifier): Promise<ReadonlySet<string>> {
    return new Set((await this.#rows(shard, 'SELECT id FROM transfers')).map(([id]) => String(id)));
  }

  /** Transfers whose money a shard has received, read from the actions that credited it. */
  async credited(shard: ShardIdentifier): Promise<readonly string[]> {
    const text = `SELECT params ->> 'saga' FROM eventlog.actions
      WHERE name = 'TransferSaga.INITIATED' AND status = 'committed'`;
    return (await this.#rows(shard, text)).map(([id]) => String(id));
  }

  async stop(): Promise<void> {
    await this.stopWriting();
    await this.application.events.stop();
  }

  async #write(sourceId: ShardedId<Wallet>): Promise<void> {
    for (let count = 0; this.#isWriting; count += 1) {
      const destinationId = this.#destinations[count % this.#destinations.length] ?? sourceId;
      const params = { sourceId, destinationId, amount: ONE };
      await this.application.executor.execute(WHO, TransferInitiateAction, params).then(
        ({ id }) => this.acknowledged.add(id.getValue()),
        () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS)),
      );
    }
  }

  async #receipt(envelope: Initiated): Promise<void> {
    const walletId = this.#counters.get(envelope.event.sourceId.getValue());
    if (walletId === undefined) throw new Error('Each source has one');
    this.begun.add(envelope.id);
    await envelope.execute(WalletDepositMoneyAction, { walletId, amount: ONE });
    this.receipts.add(envelope.id);
  }

  #acknowledgedOf(shard: ShardIdentifier): number {
    return [...this.acknowledged].filter((id) => shardOfUuid(id) === shard).length;
  }

  async #ownMoney(shard: ShardIdentifier): Promise<number> {
    const { balances, sent, received } = await readBooks(this.#databases, shard);
    const counted = shard === MEXICO_SHARD ? await this.receiptsCounted() : 0;
    return balances - counted + sent - received;
  }

  async #rows(
    shard: ShardIdentifier,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<readonly (readonly unknown[])[]> {
    return (await this.#databases.database(shard).query({ text, values })).rows;
  }
}

async function copy({ id, transaction }: Copied): Promise<void> {
  await transaction.query({ text: SEEN, values: [id] });
}
