import { expect, test } from 'vitest';
import { projectPerTest } from '../../test-support/projects.js';
import { readProject } from '../read-project.js';

const project = projectPerTest('fwgen040-nothing');

const SOURCE = `import { Action, FwAction } from 'fw-actions';
import type { Code } from '@acme/shared';
/** @secret */
export type Pin = string;
/** @secret */
export type Login = { readonly pin: string };
export interface Account { readonly pin: Pin }
export interface Card {
  /** @secret */
  readonly code?: string;
}
export interface Box<T> { readonly pin: T }
/** @secret */
export interface Vault { readonly pin: string }
/** @secret */
export enum Tan { A = 'A', B = 'B' }
export interface Open extends Vault { readonly pin: string }
export interface Computed extends Partial<Vault> {}
export interface Merged { readonly pin: string }
/** @secret */
export interface Merged {}
export type Lists<T> = { readonly [K in keyof T]: readonly T[K][] };
abstract class Base<T> extends Action<Box<T>, void> {}
abstract class Inner<T> extends Base<readonly T[]> {}
abstract class Whole<Params> extends Action<Params, void> {}
`;

test.each([
  ['an alias', 'Action<{ readonly pin: Pin }, void>'],
  ['the params as a whole', 'Action<Login, void>'],
  ['a field of an interface', 'Action<Partial<Account>, void>'],
  ['a property that a type is made of', "Action<{ readonly pin: NonNullable<Card['code']> }, void>"],
  ['a property behind an argument', "Action<Box<Record<string, Card['code']>>, void>"],
  ['an argument of a generic interface', 'Action<Box<Pin>, void>'],
  ['an alias of a package', 'Action<{ readonly pin: Code }, void>'],
  ['an argument of a base class', 'Base<Pin>'],
  ['an argument of a base class of a base class', 'Inner<Pin>'],
  ['the params of a base class', 'Whole<{ readonly pin: Pin }>'],
  ['the params of a base class as a whole', 'Whole<Login>'],
  ['an interface', 'Action<{ readonly pin: Vault }, void>'],
  ['an interface that a type is made of', 'Action<{ readonly pin: Record<string, Partial<Vault>> }, void>'],
  ['an interface in a list', 'Action<{ readonly pin: readonly (Vault | null)[] }, void>'],
  ['an interface, for what is selected from it', "Action<{ readonly pin: Vault['pin'] }, void>"],
  ['an interface that is the params', 'Action<Vault, void>'],
  ['an interface that another one extends', 'Action<Open, void>'],
  ['an interface that an extended type is made of', 'Action<Computed, void>'],
  ['a second declaration of an interface', 'Action<Merged, void>'],
  ['an enum', 'Action<{ readonly pin: Tan }, void>'],
  ['an enum, for one of its members', 'Action<{ readonly pin: Tan.A }, void>'],
  ['an alias, for what is selected from it', "Action<{ readonly pin: Login['pin'] }, void>"],
  ['a field that a type makes a list', 'Action<Lists<Account>, void>'],
])('@secret of %s keeps the param out of what is stored', (_, base) => {
  const shared = 'node_modules/@acme/shared';
  project.write(`${shared}/package.json`, '{ "name": "@acme/shared", "types": "./index.d.ts" }');
  project.write(`${shared}/index.d.ts`, '/** @secret */\nexport type Code = string;\n');
  project.write('src/login.ts', `${SOURCE}@FwAction\nexport class LoginAction extends ${base} {}\n`);
  const paths = { source: 'src', output: 'src/generated', migrations: 'src/migrations' };
  const { schema, diagnostics } = readProject(project.folder, paths);
  expect(diagnostics).toEqual([]);
  const [pin] = schema.actions[0]?.params ?? [];
  expect(pin?.tags).toEqual([expect.objectContaining({ name: 'secret' })]);
});
