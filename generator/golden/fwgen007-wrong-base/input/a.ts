import { AutoBuilder, type Id, Model } from 'fw-actions';

class Base {}

@AutoBuilder
export class Bare {}

@AutoBuilder
export class Derived extends Base {}

@AutoBuilder
export class Other extends Model<Bare, Id<Bare>, 'NEW'> {}

@AutoBuilder
export class Keyed extends Model<Keyed, string, 'NEW'> {}

type AnyBase = abstract new (...rest: never[]) => object;

function audited<B extends AnyBase>(base: B): B {
  return base;
}

@AutoBuilder
export class Audited extends audited(Model<Audited, Id<Audited>, 'NEW'>) {}
