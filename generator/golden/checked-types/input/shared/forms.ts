import * as s from './schema.js';

export const basket = s.object({
  /** @maxLength 40 */
  customer: s.string(),
  colour: s.literals(['red', 'blue', 'amber']),
  lines: s.list(s.object({ sku: s.string(), count: s.number() })),
});

export namespace postal {
  export interface Place {
    readonly street: string;
    readonly since?: Date;
  }

  /** Not the class of the language. */
  export interface Date {
    readonly year: number;
  }
}

/** @secret */
export type Pin = string;

/** @maxLength 12 */
export type Short = string;

export interface Card {
  readonly pin: Pin;
  /** @minLength 16 */
  readonly digits: string;
  readonly limit?: number;
}

export type Owner = {
  readonly name: string;
  readonly pin: Pin;
};

export enum Level {
  Low = 1 << 0,
  High = 1 << 1,
}

/** Declared in two parts. */
export enum State {
  Open = 'OPEN',
}
export enum State {
  Closed = 'CLOSED',
}

export interface Left {
  readonly left: string;
}
export interface Right {
  readonly right: string;
}

/** A tree of anything. */
export interface Tree<T> {
  readonly value: T;
  readonly children: readonly Tree<T>[];
}

export const PRICES = { small: 1, large: 2 };
export function quote(name: string) {
  return { name, at: new Date(), prices: [1, 2] };
}
