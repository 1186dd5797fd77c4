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
