import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Application extends Model<Application, Id<Application>, 'NEW'> {}

@AutoBuilder
export class Server extends Model<Server, Id<Server>, 'NEW'> {}

@AutoBuilder
export class Openapi extends Model<Openapi, Id<Openapi>, 'NEW'> {}

@AutoBuilder
export class Name extends Model<Name, Id<Name>, 'NEW'> {}

@AutoBuilder
export class CopyOf extends Model<CopyOf, Id<CopyOf>, 'NEW'> {}

@AutoBuilder
export class Constructor extends Model<Constructor, Id<Constructor>, 'NEW'> {}

@AutoBuilder
export class HasOwnProperty extends Model<HasOwnProperty, Id<HasOwnProperty>, 'NEW'> {}

@AutoBuilder
export class IsPrototypeOf extends Model<IsPrototypeOf, Id<IsPrototypeOf>, 'NEW'> {}

@AutoBuilder
export class PropertyIsEnumerable extends Model<PropertyIsEnumerable, Id<PropertyIsEnumerable>, 'NEW'> {}

@AutoBuilder
export class ToLocaleString extends Model<ToLocaleString, Id<ToLocaleString>, 'NEW'> {}

@AutoBuilder
export class ToString extends Model<ToString, Id<ToString>, 'NEW'> {}

@AutoBuilder
export class ValueOf extends Model<ValueOf, Id<ValueOf>, 'NEW'> {}
