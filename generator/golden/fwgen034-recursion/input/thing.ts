import { AutoBuilder, type Id, type JsonValue, Model } from 'fw-actions';
import type { Forth } from './circle.js';

export interface Tree {
  readonly value: string;
  readonly children: readonly Tree[];
}

export type Alias = readonly Alias[];

export interface Derived extends Derived {
  readonly value: string;
}

export type Deep<T> = { readonly [K in keyof T]?: Deep<T[K]> };

export interface Back {
  readonly forth: Forth;
}

@AutoBuilder
export class Thing extends Model<Thing, Id<Thing>, 'NEW'> {
  readonly tree!: Tree;
  readonly alias!: Alias;
  readonly derived!: Derived;
  readonly forth!: Forth;
  readonly endless!: Deep<JsonValue>;
  readonly any!: Deep<unknown>;
}
