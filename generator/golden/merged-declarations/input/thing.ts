import { AutoBuilder, Model, type ShardedId } from 'fw-actions';

export enum Color { RED = 'RED' }
export enum Color { BLUE = 'BLUE' }
export enum Size { S = 'S', L = 'L' }
export enum Size { XL = 'XL' }

/** A constant with the name of a type. */
const Base: typeof Model = Model;
type Base = Thing;

@AutoBuilder
export class Thing extends Base<Thing, ShardedId<Thing>, 'OPEN'> {
  readonly color!: Color;
  readonly size!: Size;
  readonly both!: ('a' | 'b' | null) & ('b' | 'c' | null);
  readonly neither!: ('a' | 'b' | null) & ('b' | 'c');
  readonly parts!: ({ readonly x: string } | null) & ({ readonly y: number } | null);
  readonly maybe!: ('a' | undefined) & ('a' | 'b' | undefined);
}
