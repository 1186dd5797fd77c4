import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder({ table: 'things' })
export class Stuff extends Model<Stuff, Id<Stuff>, 'NEW'> {}

@AutoBuilder({ table: 'others' })
export class THing extends Model<THing, Id<THing>, 'NEW'> {}

@AutoBuilder
export class URLEntry extends Model<URLEntry, Id<URLEntry>, 'NEW'> {}

@AutoBuilder({ table: 'entries' })
export class UrlEntry extends Model<UrlEntry, Id<UrlEntry>, 'NEW'> {}
