import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export abstract class Shape extends Model<Shape, Id<Shape>, 'NEW'> {}

@AutoBuilder
export class Crate<T> extends Model<Crate, Id<Crate>, 'NEW'> {
  declare readonly content?: T;
}
