import { AutoBuilder, type Currency, type Decimal, type Id, Key, Model, ShardedId, type ShardIdentifier } from 'fw-actions';
import { GuestBuilder } from './generated/guest.js';
import { RoomBuilder } from './generated/room.js';

export type GuestState = 'ACTIVE' | 'GONE' | "LEFT 'EM";

/** A person who has stayed here: one per mail address, and one per passport. */
@AutoBuilder({ deletedStates: ['GONE', "LEFT 'EM"] })
export class Guest extends Model<Guest, ShardedId<Guest>, GuestState> {
  @Key('passport')
  readonly country!: string;
  @Key('passport')
  readonly passportNumber!: string;
  /** In lower case. */
  @Key
  readonly email!: string;
  readonly nickname!: string | null;

  static of(shard: ShardIdentifier, email: string, createdDate: Date): Guest {
    return GuestBuilder.guest()
      .id(ShardedId.generate(Guest, shard))
      .state('ACTIVE')
      .createdDate(createdDate)
      .withInitialVersion()
      .country('MX')
      .passportNumber(email)
      .email(email)
      .nickname(null)
      .build();
  }

  greeted(): Guest {
    return GuestBuilder.copyOf(this).nickname(null).build();
  }
}

/** One night of a room. */
@AutoBuilder({
  table: 'a_table_with_quite_a_long_name_that_leaves_no_room',
  columns: { order: { name: 'order' } },
  chaining: false,
  folding: true,
})
export class Room extends Model<Room, Id<Room>> {
  @Key('night') readonly hotel!: Id<Guest>;
  @Key('night') readonly night!: Date;
  @Key('night') readonly order!: bigint;
  @Key('night') readonly rate!: Decimal;
  @Key('night') readonly currency!: Currency;

  changed(): Room {
    return RoomBuilder.copyOf(this).build();
  }
}
