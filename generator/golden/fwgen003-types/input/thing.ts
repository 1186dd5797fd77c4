import { AutoBuilder, type Decimal, type Id, Model } from 'fw-actions';
import type { Shape } from '@/shapes.js';
import type { Nowhere } from './nowhere.js';
import type * as shapes from './shapes.js';

export namespace inner {
  export interface Place {
    readonly street: string;
  }
}

export enum Level {
  Low,
  High,
}

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly when!: RegExp;
  readonly either!: string | number;
  readonly list!: readonly (string | null)[];
  readonly prices!: readonly Decimal[];
  readonly other!: Thing;
  readonly call!: () => void;
  readonly level!: Level;
  readonly missing!: Nowhere;
  readonly table!: Record<string, string>;
  readonly nothing!: void;
  readonly nil!: null;
  readonly gone!: undefined;
  readonly two!: { readonly a: string } | { readonly b: string };
  readonly shape!: Shape;
  readonly place!: inner.Place;
  readonly far!: shapes.Far;
  readonly deep!: shapes.inner.Deep;
  readonly matrix!: readonly (readonly Decimal[])[];
  readonly basket!: { readonly items: readonly bigint[] };
}
