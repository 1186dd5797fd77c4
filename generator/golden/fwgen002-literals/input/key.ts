import { AutoBuilder, type Id, Key, Model } from 'fw-actions';

const named = 'named';

@AutoBuilder()
export class Keyed extends Model<Keyed, Id<Keyed>, 'NEW'> {
  @Key(named) readonly a!: string;
  @Key('') readonly b!: string;
  @Key(1) readonly c!: string;
}
