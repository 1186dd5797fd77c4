/** A library of schemas, whose types are inferred. */
export interface Schema<T> {
  readonly parse: (value: unknown) => T;
}

export type Infer<S> = S extends Schema<infer T> ? T : never;

type Fields = Readonly<Record<string, Schema<unknown>>>;
type Shape<F extends Fields> = { readonly [Key in keyof F]: Infer<F[Key]> };

declare const parse: <T>() => Schema<T>;

export const string = (): Schema<string> => parse();
export const number = (): Schema<number> => parse();
export const literals = <const T extends readonly string[]>(_of: T): Schema<T[number]> => parse();
export const list = <T>(_of: Schema<T>): Schema<readonly T[]> => parse();
export const object = <F extends Fields>(_fields: F): Schema<Shape<F>> => parse();
