import type { Choose } from './source-edits.js';

/** Declarations to which types of the grammar refer. */
const PRELUDE = `import { Action, AutoBuilder, type Clock, type Currency, type Decimal, FwAction, HttpRoute, type Id, type JsonValue, Model, ModelEvent, type Principal, type ShardedId, type Uuid } from 'fw-actions';
export type Used = [Currency, Decimal, JsonValue, ShardedId<Thing>, Uuid, Clock, typeof NAMES, Brand<string, 'A'>, typeof TABLE];
export const NAMES = ['one', 'two', 'three'] as const;
export const TABLE = { low: { rank: 1, tag: 'l' }, high: { rank: 2, tag: 'h' } } as const;
export const FROZEN = Object.freeze(['s', 'm', 'l'] as const);
export const Phase = { Draft: 'draft', Live: 'live' } as const;
export type Phase = (typeof Phase)[keyof typeof Phase];
export type Pair = readonly [Decimal, Date];
export type Solid<T> = T extends Date | Decimal ? T : T extends readonly (infer U)[] ? readonly Solid<U>[] : T extends object ? { readonly [K in keyof T]: Solid<T[K]> } : T;
export enum Level { Low, High = 5, Highest }
export enum Mood { Good = 'good', Bad = 'bad' }
export type Brand<T, Name extends string> = T & { readonly __brand: Name };
export interface Point { readonly x: number; readonly y?: number; readonly label: string | null }
export interface Page<T> { readonly items: readonly T[]; readonly next: string | null }
export interface Node<T> { readonly value: T; readonly children: readonly Node<T>[] }
export interface Comment { readonly text: string; readonly replies: readonly Comment[] }
export type Shape = { readonly kind: 'circle'; readonly radius: Decimal } | { readonly kind: 'square'; readonly side: number };
export type Deep<T> = { readonly [K in keyof T]?: Deep<T[K]> };
export type Flags<T> = { readonly [K in keyof T as \`is\${Capitalize<K & string>}\`]: boolean };
export type Plain<T> = T extends string | number ? T : T extends readonly (infer U)[] ? U : never;
`;

const SCALARS = [
  ...['string', 'number', 'boolean', 'bigint', 'Date', 'Decimal', 'Uuid', 'Currency', 'JsonValue'],
  'unknown',
];
const NAMED = [
  ...['Level', 'Mood', 'Mood.Good', 'Point', 'Comment', 'Shape', 'Id<Thing>', "Brand<string, 'Sku'>"],
  "Brand<number, 'Cents'>",
];
const LITERALS = ["'a'", "'b'", '1', '-2', 'true', 'false', "'it\\'s'", "'\\u2028'"];
const REFUSED = [
  ...['Map<string, number>', 'Set<string>', '() => void', 'symbol', 'any', 'RegExp', 'never', 'object'],
];
const COMPUTED = [
  '(typeof NAMES)[number]',
  'keyof typeof TABLE',
  "(typeof TABLE)[keyof typeof TABLE]['rank']",
  `\`\${(typeof NAMES)[number]}-\${1 | 2}\``,
  "Uppercase<'x' | 'y'>",
  "Exclude<(typeof NAMES)[number], 'one'>",
  "Extract<Shape, { readonly kind: 'circle' }>",
  "Shape['kind']",
  "Pick<Point, 'x' | 'y'>",
  "Omit<Point, 'x'>",
  'Partial<Point>',
  'Required<Point>',
  'Readonly<Point>',
  "Point['label']",
  "NonNullable<Point['label']>",
  'Deep<{ readonly a: Point }>',
  'Plain<readonly Level[]>',
  'Phase',
  'typeof Phase.Live',
  '(typeof FROZEN)[number]',
  'keyof Point & string',
  'Uppercase<keyof typeof TABLE & string>',
  'Shape & { readonly note: string }',
  "Point & ({ readonly of: 'a' } | { readonly of: 'b'; readonly at: Date })",
  'readonly [...Pair, string]',
  "Point & { readonly x: 1 | 2; readonly label: 'a' }",
  'Point & { readonly x: string }',
  'Solid<{ points: Point[]; at: Date }>',
  "Brand<Decimal, 'Pesos'>",
];

/** Field names that are also names of other things. */
const FIELDS = [
  ...['value', 'Hx', 'hx', 'class', 'default', 'select', 'order', "'two words'", 'await', 'name', '$'],
  ...['of', 'of2', 'arguments'],
];

const DOCS = [
  '',
  '/** One line. */',
  `/** \`code\` \${x} {@link Thing} */`,
  '/**\n * @see <b>\n * \u2028 \\u{} *\\/\n */',
  '/** @label */',
];

/** One type of the grammar. @param depth maximum number of further levels */
export function typeText(choose: Choose, depth: number): string {
  const pick = (list: readonly string[]): string => list[choose(list.length)] ?? 'string';
  const inner = (): string => typeText(choose, depth - 1);
  const kind = depth <= 0 ? choose(4) : choose(16);
  switch (kind) {
    case 0:
    case 1:
      return pick(SCALARS);
    case 2:
      return pick(NAMED);
    case 3:
      return pick(choose(12) === 0 ? REFUSED : LITERALS);
    case 4:
      return pick(COMPUTED);
    case 5:
      return `readonly (${inner()})[]`;
    case 6:
      return `(${inner()}) | ${pick(['null', 'undefined', 'null | undefined'])}`;
    case 7:
      return `readonly [${inner()}, ${inner()}${pick(['', ', ...string[]', ', ...(number | null)[]'])}]`;
    case 8:
      return `{ readonly a: ${inner()}; readonly ${pick(FIELDS)}?: ${inner()} }`;
    case 9:
      return `Readonly<Record<${pick(['string', "'p' | 'q'", 'Mood', '(typeof NAMES)[number]'])}, ${inner()}>>`;
    case 10:
      return `${pick(['Page', 'Node', 'Array', 'Deep'])}<${inner()}>`;
    case 11:
      return `(${inner()}) | (${inner()})`;
    case 12:
      return `{ readonly type: 'x'; readonly of: ${inner()} } | { readonly type: 'y'; readonly by: ${inner()} }`;
    case 13:
      return `{ readonly [key: string]: ${inner()} }`;
    case 14:
      return `{ readonly [K in ${pick(["'m' | 'n'", 'keyof Point', 'keyof typeof TABLE'])}]: ${inner()} }`;
    default:
      return `(${inner()})[]`;
  }
}

/** A source that uses one type as a field of every kind of declaration. */
export function sourceText(choose: Choose): string {
  const pick = (list: readonly string[]): string => list[choose(list.length)] ?? '';
  const type = typeText(choose, choose(4));
  const [field, doc] = [pick(FIELDS), pick(DOCS)];
  const mark = pick(['', '', '?']);
  const base = choose(3) === 0;
  const overload = choose(4) === 0;
  return `${PRELUDE}
export type T = ${type};
${doc}
${base ? `export abstract class Base<Self extends Model<Self, Id<Self>, 'NEW'>> extends Model<Self, Id<Self>, 'NEW'> {\n  readonly based!: string;\n}` : ''}
@AutoBuilder
export class Thing extends ${base ? 'Base<Thing>' : "Model<Thing, Id<Thing>, 'NEW'>"} {
  ${doc}
  readonly ${field}${mark === '' ? '!' : '?'}: T;
  readonly other!: ${pick(['string', 'readonly T[]', 'T | null'])};
}
${base ? 'export abstract class Heard<M> extends ModelEvent<M> { readonly by!: string }' : ''}
export class ThingHappenedEvent extends ${base ? 'Heard' : 'ModelEvent'}<Thing> {
  readonly ${field}${mark === '' ? '!' : '?'}: T;
}
export interface DoActionParams {
  ${doc}
  readonly ${field}${mark}: T;
}
${choose(3) === 0 ? 'export interface DoActionParams { readonly merged: number }' : ''}
${base ? 'export class Answer { readonly inherited!: string }' : ''}
export class DoResponse ${base ? 'extends Answer ' : ''}{
  readonly ${field}${mark === '' ? '!' : '?'}: T;
  get got(): number { return 1; }
  static from(_: T | undefined): DoResponse { return new DoResponse(); }
}
@FwAction
@HttpRoute('POST', '/things', { response: DoResponse })
export class DoAction extends Action<DoActionParams, T> {
${overload ? '  constructor(clock: Clock);\n  constructor(clock: Clock, other?: string) { super(clock); void other; }' : ''}
  protected perform(_principal: Principal, _params: DoActionParams): T { throw new Error('not called'); }
}
`;
}
