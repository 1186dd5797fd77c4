export class Model<T> {
  declare readonly self?: T;
}
