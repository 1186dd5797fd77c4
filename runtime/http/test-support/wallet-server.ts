import { fixedPrincipal } from '../../access/authenticator.js';
import type { ActionClass } from '../../action/action.js';
import type { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { Decimal } from '../../domain/decimal.js';
import type { ObjectType } from '../../domain/descriptor.js';
import { namedFields, objectType, t } from '../../domain/field-types.js';
import { ShardedId } from '../../domain/id.js';
import type { Caller } from '../../domain/principal.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import {
  ModelNotFoundError,
  PreconditionFailedError,
  RefusedError,
  UnknownShardError,
  ValidationError,
} from '../../errors.js';
import type { LogEntry } from '../../observability/logger.js';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http-server.js';
import type { RouteDescriptor } from '../route.js';
import type { Executes } from '../route-handler.js';
import { collectLog } from './collect-log.js';

/** A wallet of the fake application. */
export interface FakeWallet {
  readonly id: ShardedId<unknown>;
  readonly ownerId: string;
  readonly currency: string;
  balance: Decimal;
  state: 'OPENED' | 'CLOSED';
  version: number;
}

type Params = Readonly<Record<string, unknown>>;
type Perform = (params: Params, configuration: ExecutionConfiguration | undefined) => unknown;

const WALLET = { name: 'Wallet', prototype: {} };
const CREATED = new Date('2026-01-31T12:00:00.000Z');
const walletPath = { walletId: t.shardedId('Wallet') };

const walletType: ObjectType = objectType({
  name: 'WalletResponse',
  fields: {
    id: t.shardedId('Wallet'),
    shardGroup: t.number(),
    shardMember: t.number(),
    ownerId: t.uuid(),
    currency: t.currency(),
    balance: t.decimal(19, 4),
    state: t.enum(['OPENED', 'CLOSED']),
    version: t.number(),
    createdDate: t.instant(),
  },
});
const walletPageType: ObjectType = objectType({
  name: 'WalletPageResponse',
  fields: { items: t.list(t.object(walletType)), next: t.string({ nullable: true }) },
});

function walletResponse(wallet: FakeWallet): object {
  const { group, member } = wallet.id.resolveShardIdentifier();
  return { ...wallet, shardGroup: group, shardMember: member, createdDate: CREATED };
}

/** Wallets in memory, behind real routes and real sockets. A test can replace the action with `behaviour`. */
export class WalletApplication {
  readonly wallets: Map<string, FakeWallet> = new Map();
  readonly log: LogEntry[] = [];
  readonly executions: {
    principal: Caller;
    params: Params;
    configuration: ExecutionConfiguration | undefined;
  }[] = [];
  /** Replaces the deposit. */
  behaviour: Perform | undefined;
  readonly #performs = new Map<object, Perform>();

  readonly routes: readonly RouteDescriptor[] = [
    this.#route('WalletCreateAction', (params) => this.#create(params), {
      method: 'POST',
      path: '/wallets',
      status: 201,
      location: '/wallets/{id}',
      params: namedFields({
        country: t.string(),
        ownerId: t.uuid(),
        currency: t.currency(),
        initialBalance: t.decimal(19, 4, { default: '0', label: 'balance' }),
      }),
    }),
    this.#route('WalletListAction', (params) => this.#list(params), {
      method: 'GET',
      path: '/wallets',
      params: namedFields({
        ownerId: t.uuid(),
        limit: t.number({ integer: true, minimum: 1, maximum: 200, default: 50 }),
        cursor: t.string({ optional: true, doc: '`next` of the page before.' }),
        shard: t.list(t.number(), { optional: true }),
      }),
      response: {
        map: ({ items, next }: { items: FakeWallet[]; next: null }) => ({
          items: items.map(walletResponse),
          next,
        }),
        type: walletPageType,
      },
    }),
    this.#route('WalletGetAction', ({ walletId }) => this.#find(walletId), {
      method: 'GET',
      path: '/wallets/{walletId}',
      params: namedFields(walletPath),
    }),
    this.#route('WalletDepositMoneyAction', (params, configuration) => this.#deposit(params, configuration), {
      method: 'POST',
      path: '/wallets/{walletId}/deposit',
      ifMatch: 'walletId',
      params: namedFields({
        ...walletPath,
        amount: t.decimal(19, 4),
        recipient: t.string({ optional: true, maxLength: 256 }),
      }),
    }),
    this.#route('WalletCloseAction', ({ walletId }) => this.#close(walletId), {
      method: 'POST',
      path: '/wallets/{walletId}/close',
      bodyBytes: 20,
      timeoutMs: 900,
      params: namedFields(walletPath),
    }),
    this.#bare('WalletForgetAction', () => undefined, {
      method: 'DELETE',
      path: '/wallets/{walletId}',
      status: 204,
      params: namedFields(walletPath),
    }),
  ];

  readonly execute: Executes['execute'] = async (principal, actionClass, params, configuration) => {
    const known = params as Params;
    this.executions.push({ principal, params: known, configuration });
    return this.#performs.get(actionClass)?.(known, configuration);
  };

  /** Resets the state. */
  reset(): void {
    this.log.length = 0;
    this.wallets.clear();
    this.executions.length = 0;
    this.behaviour = undefined;
  }

  /** Creates a wallet with this balance on (1, 0). */
  open(balance = '0'): string {
    const wallet = this.#create({
      country: 'MX',
      ownerId: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10',
      currency: 'MXN',
      initialBalance: new Decimal(balance),
    });
    return wallet.id.getValue();
  }

  server(options: Partial<HttpServerOptions> = {}): HttpServer {
    return createHttpServer({
      routes: this.routes,
      executor: { execute: this.execute },
      openApi: { openapi: '3.1.0', info: { title: 'Wallets', version: '1' }, paths: {} },
      authenticator: fixedPrincipal('tester'),
      health: async () => [{ shard: '(0, 0)', name: 'global-1', status: 'up' }],
      log: collectLog(this.log),
      ...options,
    });
  }

  #route(
    operation: string,
    perform: Perform,
    route: Partial<RouteDescriptor> & Pick<RouteDescriptor, 'method' | 'path'>,
  ): RouteDescriptor {
    const response = { map: walletResponse, type: walletType };
    const etag = route.response === undefined ? { etag: 'version' } : {};
    return this.#bare(operation, perform, { response, ...etag, ...route });
  }

  #bare(
    operation: string,
    perform: Perform,
    route: Partial<RouteDescriptor> & Pick<RouteDescriptor, 'method' | 'path'>,
  ): RouteDescriptor {
    const action = { name: operation, prototype: {} } as unknown as ActionClass<never, unknown>;
    this.#performs.set(action, perform);
    return { action, operation, status: 200, params: [], ...route };
  }

  #create({ country, ownerId, currency, initialBalance }: Params): FakeWallet {
    const balance = (initialBalance ?? new Decimal(0)) as Decimal;
    if (balance.isNegative())
      throw new ValidationError('Initial balance must not be negative', { field: 'initialBalance' });
    const id = ShardedId.generate(WALLET, ShardIdentifier.of(country === 'MX' ? 1 : 0, 0));
    const wallet: FakeWallet = {
      id,
      ownerId: String(ownerId),
      currency: String(currency),
      balance,
      state: 'OPENED',
      version: 1,
    };
    this.wallets.set(id.getValue(), wallet);
    return wallet;
  }

  #list({ cursor }: Params): object {
    if (cursor === 'foreign') throw new ValidationError('cursor is of another list', { field: 'cursor' });
    return { items: [...this.wallets.values()], next: null };
  }

  #find(walletId: unknown): FakeWallet {
    if (!(walletId instanceof ShardedId)) throw new TypeError('The id was not converted');
    const shard = walletId.resolveShardIdentifier();
    if (shard.group > 1 || shard.member > 0) throw new UnknownShardError(shard.toString());
    const wallet = this.wallets.get(walletId.getValue());
    if (wallet === undefined) throw new ModelNotFoundError('Wallet', walletId.getValue());
    return wallet;
  }

  #deposit(params: Params, configuration: ExecutionConfiguration | undefined): unknown {
    if (this.behaviour !== undefined) return this.behaviour(params, configuration);
    const wallet = this.#find(params['walletId']);
    const amount = params['amount'] as Decimal;
    if (!amount.greaterThan(0))
      throw new ValidationError('Deposit amount must be positive', { field: 'amount' });
    const { ifVersion } = configuration ?? {};
    if (ifVersion !== undefined && !ifVersion.versions.includes(wallet.version)) {
      throw new PreconditionFailedError(`Wallet ${ifVersion.id} has version ${wallet.version}`);
    }
    wallet.balance = wallet.balance.plus(amount);
    wallet.version += 1;
    return wallet;
  }

  #close(walletId: unknown): FakeWallet {
    const wallet = this.#find(walletId);
    if (!wallet.balance.isZero()) throw new RefusedError('A wallet with a balance cannot be closed');
    wallet.state = 'CLOSED';
    wallet.version += 1;
    return wallet;
  }
}
