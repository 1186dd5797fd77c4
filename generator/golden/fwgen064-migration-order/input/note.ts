import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Note extends Model<Note, Id<Note>, 'NEW'> {
  readonly title!: string;
  readonly color?: string;
  readonly rating?: number;
}
