import { AutoBuilder, type Id, Model } from 'fw-actions';

@AutoBuilder
export default class Sole extends Model<Sole, Id<Sole>, 'NEW'> {}
