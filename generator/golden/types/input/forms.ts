import type { Decimal } from 'fw-actions';

export const STATES = ['OPEN', 'DONE'] as const;
export const ROLES = { admin: { level: 1 }, member: { level: 2 } } as const;

/** A constant and a type of one name. */
export const Phase = { Draft: 'draft', Live: 'live' } as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

export enum Level {
  Low,
  High = 5,
  Highest,
}

export enum Mood {
  Good = 'good',
  Bad = 'bad',
}

declare const brand: unique symbol;
export type Sku = string & { readonly [brand]: 'Sku' };
export type Brand<T, Name extends string> = T & { readonly __brand: Name };
export type Cents = Brand<number, 'Cents'>;
export type Pesos = Brand<Decimal, 'Pesos'>;
export type Pair = readonly [Decimal, Date];

export interface Address {
  readonly street: string;
  readonly zip?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export interface Tagged<T = string> {
  readonly tag: T;
}

export type Span<T = Date> = { readonly from: T; readonly until?: T };

export interface Tags<T = bigint> extends Tagged {
  readonly count: T;
  readonly span: Span;
}

/** Merged with the declaration below. */
export interface Parcel extends Pick<Address, 'street'>, Page<string> {
  readonly weight: number;
}

export interface Parcel {
  readonly insured: boolean;
}

export type Payment =
  | { readonly kind: 'card'; readonly amount: Decimal; readonly at: Date }
  | { readonly kind: 'cash'; readonly cents: bigint };

export interface Comment {
  readonly text: string;
  readonly replies: readonly Comment[];
}

/** A union that contains itself. */
export type Expression =
  | { readonly op: 'value'; readonly value: Decimal }
  | { readonly op: 'sum'; readonly of: readonly Expression[] };

/** A member of a union that contains the union. */
export interface Not {
  readonly op: 'not';
  readonly of: Not | Since;
}

export interface Since {
  readonly op: 'since';
  readonly when: Date;
}

export interface Folder<T> {
  readonly content: T;
  readonly folders: Readonly<Record<string, Folder<T>>>;
}

export type Deep<T> = { readonly [K in keyof T]?: Deep<T[K]> };
export type Solid<T> = T extends Date | Decimal
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Solid<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Solid<T[K]> }
      : T;
export type ElementOf<T> = T extends readonly (infer Item)[] ? Item : never;
