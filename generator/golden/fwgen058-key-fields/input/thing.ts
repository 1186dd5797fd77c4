import { AutoBuilder, type Id, type JsonValue, Key, Model } from 'fw-actions';

@AutoBuilder({ columns: { name: { type: 'citext' }, at: { type: 'date' } } })
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  @Key readonly nickname?: string;
  @Key readonly note!: string | null;
  @Key readonly data!: JsonValue;
  @Key readonly tags!: readonly string[];
  @Key readonly name!: string;
  @Key readonly at!: Date;
  @Key readonly fine!: number;
}
