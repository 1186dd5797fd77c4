import { Action } from '../../action/action.js';
import type { ActionPlan } from '../../action/action-plan.js';
import { ActionRegistry } from '../../action/action-registry.js';
import type { ExecutionConfiguration } from '../../action/execution-configuration.js';
import { systemEnvironment } from '../../concurrency/execution-environment.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { ShardedId } from '../../domain/id.js';
import { Model } from '../../domain/model.js';
import { INITIAL_VERSION, ModelBuilder } from '../../domain/model-builder.js';
import type { modelKeys } from '../../domain/natural-key.js';
import type { Principal } from '../../domain/principal.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import type { Migration } from '../../migration/migration.js';
import { EventCatalog } from '../../persistence/codec/event-catalog.js';
import { Repository, type RepositoryContext } from '../../persistence/read/repository.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { ActionExecutor } from '../action-executor.js';
import type { Explanation } from '../perform/explain.js';
import { ShardGateways } from '../shard-gateways.js';
import { HERE } from './accounts.js';

export type GuestState = 'HERE' | 'GONE';

/** A sharded model with two natural keys, as the generator would emit it. */
export class Guest extends Model<Guest, ShardedId<Guest>, GuestState> {
  readonly email!: string;
  readonly room!: Decimal;
  readonly bed!: string;
  readonly stays!: number;

  renamed(email: string): Guest {
    return GuestBuilder.copyOf(this).email(email).build();
  }

  stayed(): Guest {
    return GuestBuilder.copyOf(this)
      .stays(this.stays + 1)
      .build();
  }

  gone(state: GuestState = 'GONE'): Guest {
    return GuestBuilder.copyOf(this).state(state).build();
  }
}

declare module './guests.js' {
  /** As emitted code declares it. */
  interface Guest {
    readonly [modelKeys]?: Pick<Guest, 'email'> | Pick<Guest, 'room' | 'bed'>;
  }
}

const decimal = { kind: 'decimal', precision: 9, scale: 2 } as const;

export const guestModel: ModelDescriptor<Guest> = {
  name: 'Guest',
  kind: 'model',
  modelClass: () => Guest,
  table: 'guests',
  sharded: true,
  deletedStates: ['GONE'],
  keys: [
    { index: 'guests_email_key', fields: ['email'] },
    { index: 'guests_room_bed_key', fields: ['room', 'bed'] },
  ],
  columns: [
    { field: 'id', column: 'id', type: { kind: 'id', model: 'Guest', sharded: true }, sqlType: 'uuid' },
    { field: 'state', column: 'state', type: { kind: 'enum', values: ['HERE', 'GONE'] }, sqlType: 'text' },
    { field: 'version', column: 'version', type: { kind: 'number' }, sqlType: 'bigint' },
    { field: 'email', column: 'email', type: { kind: 'string' }, sqlType: 'text' },
    { field: 'room', column: 'room', type: decimal, sqlType: 'numeric(9,2)' },
    { field: 'bed', column: 'bed', type: { kind: 'string' }, sqlType: 'varchar(20)' },
    { field: 'stays', column: 'stays', type: { kind: 'number' }, sqlType: 'integer' },
    { field: 'createdDate', column: 'created_date', type: { kind: 'instant' }, sqlType: 'timestamptz' },
    { field: 'updatedDate', column: 'updated_date', type: { kind: 'instant' }, sqlType: 'timestamptz' },
  ],
};

export const guestMigrations: readonly Migration[] = [
  {
    name: '0001_guests',
    up: `create table guests (
      id uuid primary key check (eventlog.is_own_id(id)),
      state text not null,
      version bigint not null,
      email text not null,
      room numeric(9,2) not null,
      bed varchar(20) not null,
      stays integer not null,
      created_date timestamptz not null,
      updated_date timestamptz not null
    );
    create unique index guests_email_key on guests (email) where state not in ('GONE');
    create unique index guests_room_bed_key on guests (room, bed) where state not in ('GONE')`,
  },
];

class GuestBuilder extends ModelBuilder<Guest> {
  constructor() {
    super(guestModel);
  }

  static copyOf(guest: Guest): GuestBuilder {
    return new GuestBuilder().copyAll(guest);
  }

  static of(values: Readonly<Record<string, unknown>>): GuestBuilder {
    const builder = new GuestBuilder();
    for (const [field, value] of Object.entries(values)) builder.put(field, value);
    return builder;
  }

  state(state: GuestState): this {
    return this.put('state', state);
  }

  email(email: string): this {
    return this.put('email', email);
  }

  stays(stays: number): this {
    return this.put('stays', stays);
  }

  build(): Guest {
    return this.instantiate();
  }
}

let beds = 0;

/** A new guest, in a new bed unless one is given. */
export function newGuest(
  email: string,
  values: Readonly<Record<string, unknown>> = {},
  shard: ShardIdentifier = HERE,
): Guest {
  beds += 1;
  return GuestBuilder.of({
    id: ShardedId.generate(Guest, shard),
    state: 'HERE',
    version: INITIAL_VERSION,
    email,
    room: new Decimal(1),
    bed: `${process.pid} ${beds}`,
    stays: 0,
    createdDate: new Date(),
    ...values,
  }).build();
}

export class GuestRepository extends Repository<Guest> {
  constructor(context: RepositoryContext) {
    super(context, guestModel);
  }

  /** A custom query, which sees committed rows. */
  async count(shard: ShardIdentifier): Promise<number> {
    const rows = await this.queries(shard).selectFrom('guests').select('id').execute();
    return rows.length;
  }
}

/** The `perform` of one test action. */
export type Script<Result = unknown> = (
  plan: ActionPlan,
  guests: GuestRepository,
) => Promise<Result> | Result;

class ScriptAction extends Action<{ readonly script: Script }, unknown> {
  readonly #guests: GuestRepository;

  constructor(guests: GuestRepository) {
    super(systemClock);
    this.#guests = guests;
  }

  protected perform(_principal: Principal, { script }: { readonly script: Script }): unknown {
    return script(this.plan(), this.#guests);
  }
}

/** One process of a small hotel, which shares only the databases with others. */
export interface TestHotel {
  readonly guests: GuestRepository;
  run<Result>(script: Script<Result>, configuration?: ExecutionConfiguration): Promise<Result>;
  explain(script: Script): Promise<Explanation>;
  /** Gets or adds the guest with this address, as one action. */
  checkIn(email: string): Promise<Guest>;
}

export function openHotel(databases: DatabaseRegistry): TestHotel {
  const models: readonly ModelDescriptor[] = [guestModel as unknown as ModelDescriptor];
  const gateways = new ShardGateways(databases, 'test', new EventCatalog([]));
  const guests = new GuestRepository(gateways);
  const create = (): ScriptAction => new ScriptAction(guests);
  const registry = new ActionRegistry([{ name: 'Script', actionClass: ScriptAction, params: [], create }]);
  const executor = new ActionExecutor({ registry, gateways, models, environment: systemEnvironment() });
  const run = async <Result>(
    script: Script<Result>,
    configuration?: ExecutionConfiguration,
  ): Promise<Result> => {
    const result: unknown = await executor.execute({ name: 'test' }, ScriptAction, { script }, configuration);
    // The script's result, or that of an earlier run of it.
    return result as Result;
  };
  return {
    guests,
    run,
    explain: (script) => executor.explain({ name: 'test' }, ScriptAction, { script }),
    checkIn: (email) => run((plan, all) => plan.getOrAdd(all, newGuest(email))),
  };
}
