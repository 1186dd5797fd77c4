import { AutoBuilder, type Id, type JsonValue, Key, Model } from 'fw-actions';

@AutoBuilder({ columns: { name: { type: 'citext' }, at: { type: 'date' } } })
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  @Key('nickname') readonly nickname?: string;
  @Key('note') readonly note!: string | null;
  @Key('data') readonly data!: JsonValue;
  @Key('tags') readonly tags!: readonly string[];
  @Key('name') readonly name!: string;
  @Key('at') readonly at!: Date;
  @Key('fine') readonly fine!: number;
}
