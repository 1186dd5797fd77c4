import { ModelEvent } from 'fw-actions';
import { Thing } from './thing.js';

export class ThingMadeEvent extends ModelEvent<Thing> {
  private readonly hidden!: string;

  constructor(protected readonly title: string) {
    super('', Thing);
  }
}
