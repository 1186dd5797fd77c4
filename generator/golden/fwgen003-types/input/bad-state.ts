import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export class Gadget extends Model<Gadget, Id<Gadget>, number> {}
