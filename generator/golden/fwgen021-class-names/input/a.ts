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
