import { AutoBuilder, type Id, Model } from 'fw-actions';
import { ThingBuilder } from './generated/thing.js';

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW' | 'USED'> {
  use(): Thing {
    return ThingBuilder.copyOf(this).state('USED').build();
  }
}
