import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Gadget extends Model<Gadget, Id<Gadget>, 'NEW'> {}

@AutoBuilder({ table: 'Quoted Name' })
export class Quoted extends Model<Quoted, Id<Quoted>> {}

@AutoBuilder
export class Widget extends Model<Widget, Id<Widget>> {}
