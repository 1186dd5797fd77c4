import * as fw from 'fw-actions';
import type { places } from './index.js';
import { Built, type Key, type Label, type Price, Root } from '../fw.js';

export const STATES = { Open: 'OPEN', Shut: 'SHUT' } as const;
export type States = (typeof STATES)[keyof typeof STATES];

/** Not the global one. */
export interface Uuid {
  readonly low: number;
}

@Built
export class Ticket extends Root<Ticket, Key<Ticket>, States> {
  readonly price!: fw.Decimal;
  readonly owner!: fw.Uuid;
  readonly local!: Uuid;
  readonly when!: Date;
  readonly at!: places.Place;
  readonly cost!: Price;
  readonly label!: Label;
}
