import { beforeEach, expect, test, vi } from 'vitest';
import type { ModelClass } from './id.js';

/** A program of its own: whether a minifier was at work is known to the whole program. */
let program: typeof import('./id.js') & typeof import('./stored-names.js');
beforeEach(async () => {
  vi.resetModules();
  program = { ...(await import('./id.js')), ...(await import('./stored-names.js')) };
});

const ID = '019b0000-0000-7000-8000-000000000001';

/** A class as a minifier leaves it. */
const shortened = (): ModelClass<object> => class n {};

test('an id has the declared name of its class, not the one that a minifier gave it', () => {
  const note = shortened();
  program.nameClass(note, 'Note');
  program.nameClass(note, 'Note');
  expect(program.Id.of(note, ID).modelName).toBe('Note');
});

test('a class that was in use under the name of a minifier is refused', () => {
  const note = shortened();
  program.Id.of(note, ID);
  expect(() => program.nameClass(note, 'Note')).toThrow('The class of Note is already in use as n');
});

test('a class has one stored name', () => {
  const note = shortened();
  program.nameClass(note, 'Note');
  expect(() => program.nameClass(note, 'Letter')).toThrow('The class of Letter is already in use as Note');
});

test('a class without a declared name is refused once a minifier is known to have renamed others', () => {
  const letter = class Letter {};
  program.nameClass(letter, 'Letter');
  expect(program.Id.of(shortened(), ID).modelName).toBe('n');
  program.nameClass(shortened(), 'Note');
  expect(() => program.Id.of(shortened(), ID)).toThrow(
    'The class n has no stored name, and the classes of this program have other names than the stored ones (n is stored as Note)',
  );
  expect(program.Id.of(letter, ID).modelName).toBe('Letter');
});

test('a descriptor without a name is refused with the remedy', () => {
  const note = shortened();
  expect(() => Reflect.apply(program.nameClass, undefined, [note, undefined])).toThrow(
    'The class n has no stored name: run fw-gen generate, or give its descriptor a literal as name',
  );
});
