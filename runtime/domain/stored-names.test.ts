import { expect, test } from 'vitest';
import { Id, type ModelClass } from './id.js';
import { nameClass } from './stored-names.js';

/** A class as a minifier leaves it. */
const shortened = (): ModelClass<object> => class n {};

test('an id has the declared name of its class, not the one that a minifier gave it', () => {
  const note = shortened();
  nameClass(note, 'Note');
  nameClass(note, 'Note');
  expect(Id.of(note, '019b0000-0000-7000-8000-000000000001').modelName).toBe('Note');
});

test('a class that was in use under the name of a minifier is refused', () => {
  const note = shortened();
  Id.of(note, '019b0000-0000-7000-8000-000000000001');
  expect(() => nameClass(note, 'Note')).toThrow('The class of Note is already in use as n');
});

test('a class has one stored name', () => {
  const note = shortened();
  nameClass(note, 'Note');
  expect(() => nameClass(note, 'Letter')).toThrow('The class of Letter is already in use as Note');
});
