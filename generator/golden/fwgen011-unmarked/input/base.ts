import { type Id, Model } from 'fw-actions';

export abstract class Base extends Model<Base, Id<Base>, 'NEW'> {
  readonly title!: string;
}

export class Of<T> extends Model<Of<T>, Id<Of<T>>, 'NEW'> {}
