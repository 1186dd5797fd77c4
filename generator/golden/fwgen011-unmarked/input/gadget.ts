import { AutoBuilder, Entity as Base, type Id } from 'fw-actions';

export class Gadget extends Base<Gadget, Id<Gadget>, 'NEW'> {}

@AutoBuilder
export class Widget extends Base<Widget, Id<Widget>, 'NEW'> {}
