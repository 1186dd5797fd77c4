import { AutoBuilder, FwEvent, type Id, Model, ModelEvent, type ShardedId } from 'fw-actions';
import type { PurseIncreasedUpcasters } from './generated/versions.js';

/** Was the class Wallet, and keeps its name in stored data and its table. */
@AutoBuilder({ name: 'Wallet' })
export class Purse extends Model<Purse, ShardedId<Purse>, 'OPEN'> {
  readonly owner!: string;
  readonly parent?: ShardedId<Purse>;
}

/** Was the class WalletOpened, and keeps its stored name. */
@FwEvent({ name: 'WalletOpened' })
export class PurseOpened extends ModelEvent<Purse> {
  readonly parent!: Id<Purse>;
}

/**
 * Was stored as WalletAdded. Its first version is the version of the earlier name.
 * @version 2
 */
@FwEvent({ aliases: ['WalletAdded'] })
export class PurseIncreased extends ModelEvent<Purse> {
  static readonly upcasters: PurseIncreasedUpcasters = [({ cents }) => ({ pesos: cents / 100 })];

  readonly pesos!: number;
}
