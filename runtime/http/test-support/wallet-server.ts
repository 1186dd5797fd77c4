import type { ActionClass } from '../../action/action.js';
import type { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { Decimal } from '../../domain/decimal.js';
import type { FieldDescriptor } from '../../domain/descriptor.js';
import { ShardedId } from '../../domain/id.js';
import type { Principal } from '../../domain/principal.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import {
  ModelNotFoundError,
  PreconditionFailedError,
  RefusedError,
  UnknownShardError,
  ValidationError,
} from '../../errors.js';
import type { LogEntry } from '../../observability/logger.js';
import { fixedPrincipal } from '../authenticator.js';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http-server.js';
import type { JsonSchema, RouteDescriptor } from '../route.js';
import type { Executes } from '../route-handler.js';
import { collectLog } from './collect-log.js';

/** A wallet as the fake keeps it. */
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
const decimal: JsonSchema = { type: ['string', 'number'], fw: { kind: 'decimal', precision: 19, scale: 4 } };
const uuid: JsonSchema = { type: 'string', format: 'uuid', fw: { kind: 'uuid' } };
const walletPath: JsonSchema = {
  type: 'object',
  properties: {
    walletId: { type: 'string', format: 'uuid', fw: { kind: 'id', model: 'Wallet', sharded: true } },
  },
  required: ['walletId'],
};
const nothing: JsonSchema = { type: 'object', properties: {} };

const walletFields: readonly FieldDescriptor[] = [
  { name: 'id', type: { kind: 'id', model: 'Wallet', sharded: true } },
  { name: 'shardGroup', type: { kind: 'number' } },
  { name: 'shardMember', type: { kind: 'number' } },
  { name: 'ownerId', type: { kind: 'uuid' } },
  { name: 'currency', type: { kind: 'currency' } },
  { name: 'balance', type: { kind: 'decimal', precision: 19, scale: 4 } },
  { name: 'state', type: { kind: 'enum', values: ['OPENED', 'CLOSED'] } },
  { name: 'version', type: { kind: 'number' } },
  { name: 'createdDate', type: { kind: 'instant' } },
];

function walletResponse(wallet: FakeWallet): object {
  const { group, member } = wallet.id.resolveShardIdentifier();
  return { ...wallet, shardGroup: group, shardMember: member, createdDate: CREATED };
}

/** Wallets in memory, behind real routes and real sockets. What a test puts into `behaviour` runs instead. */
export class WalletApplication {
  readonly wallets: Map<string, FakeWallet> = new Map();
  readonly log: LogEntry[] = [];
  readonly executions: {
    principal: Principal;
    params: Params;
    configuration: ExecutionConfiguration | undefined;
  }[] = [];
  /** Replaces what the deposit does. */
  behaviour: Perform | undefined;
  readonly #performs = new Map<object, Perform>();

  readonly routes: readonly RouteDescriptor[] = [
    this.#route('WalletCreateAction', (params) => this.#create(params), {
      method: 'POST',
      path: '/wallets',
      status: 201,
      location: '/wallets/{id}',
      bodySchema: {
        type: 'object',
        properties: {
          country: { type: 'string', fw: { kind: 'string' } },
          ownerId: uuid,
          currency: { type: 'string', fw: { kind: 'currency' } },
          initialBalance: { ...decimal, default: '0', fwLabel: 'balance' },
        },
        required: ['country', 'ownerId', 'currency'],
      },
    }),
    this.#route('WalletListAction', (params) => this.#list(params), {
      method: 'GET',
      path: '/wallets',
      querySchema: {
        type: 'object',
        properties: {
          ownerId: uuid,
          limit: { type: 'integer', minimum: 1, maximum: 200, default: 50, fw: { kind: 'number' } },
          cursor: { type: 'string', fw: { kind: 'string' } },
          shard: { type: 'array', items: { type: 'integer', fw: { kind: 'number' } }, maxItems: 3 },
        },
        required: ['ownerId'],
      },
      response: {
        map: ({ items, next }: { items: FakeWallet[]; next: null }) => ({
          items: items.map(walletResponse),
          next,
        }),
        fields: [
          { name: 'items', type: { kind: 'list', of: { kind: 'object', fields: walletFields } } },
          { name: 'next', type: { kind: 'string' }, nullable: true },
        ],
      },
    }),
    this.#route('WalletGetAction', ({ walletId }) => this.#find(walletId), {
      method: 'GET',
      path: '/wallets/{walletId}',
      pathSchema: walletPath,
    }),
    this.#route('WalletDepositMoneyAction', (params, configuration) => this.#deposit(params, configuration), {
      method: 'POST',
      path: '/wallets/{walletId}/deposit',
      pathSchema: walletPath,
      ifMatch: 'walletId',
      bodySchema: {
        type: 'object',
        properties: {
          amount: decimal,
          recipient: { type: 'string', maxLength: 256, fw: { kind: 'string' } },
        },
        required: ['amount'],
      },
    }),
    this.#route('WalletCloseAction', ({ walletId }) => this.#close(walletId), {
      method: 'POST',
      path: '/wallets/{walletId}/close',
      bodyBytes: 20,
      timeoutMs: 900,
      pathSchema: walletPath,
    }),
    this.#bare('WalletForgetAction', () => undefined, {
      method: 'DELETE',
      path: '/wallets/{walletId}',
      status: 204,
      pathSchema: walletPath,
    }),
  ];

  readonly execute: Executes['execute'] = async (principal, actionClass, params, configuration) => {
    const known = params as Params;
    this.executions.push({ principal, params: known, configuration });
    return this.#performs.get(actionClass)?.(known, configuration);
  };

  /** Forgets everything that earlier tests did. */
  reset(): void {
    this.log.length = 0;
    this.wallets.clear();
    this.executions.length = 0;
    this.behaviour = undefined;
  }

  /** Puts a wallet with this balance on (1, 0). */
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
    const response = { map: walletResponse, fields: walletFields };
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
    return { action, operation, status: 200, pathSchema: nothing, querySchema: nothing, ...route };
  }

  #create({ country, ownerId, currency, initialBalance }: Params): FakeWallet {
    const balance = initialBalance as Decimal;
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
