import { Action, AutoBuilder, Entity, FwAction, type Id } from 'fw-actions';

@AutoBuilder
export class Parcel extends Entity<Parcel, Id<Parcel>, 'SENT'> {
  readonly defaultExport!: Address;
  readonly ofThisPackage!: Decimal;
}

@AutoBuilder
export class Letter extends Model<Letter, Id<Letter>, 'SENT'> {}

@AutoBuilder
export class Stamp extends Entity<Stamp, Id<Stamp>, StampState> {}

@FwAction
export class SendAction extends Action<SendParams, void> {
  protected perform(): void {}
}
