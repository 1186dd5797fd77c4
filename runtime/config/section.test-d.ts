import { integer, text } from './kinds.js';
import { section } from './section.js';

interface Limits {
  readonly name: string;
  readonly size: number;
  readonly note: string | undefined;
}

const name = text(10, { required: true, doc: 'A name.' });
const size = integer(1, 10, { default: 5, doc: 'A size.' });
const note = text(10, { doc: 'A note.' });

section<Limits>({ doc: 'Limits.', keys: { name, size, note } });

// @ts-expect-error a property has no key
section<Limits>({ doc: 'Limits.', keys: { name, size } });

// @ts-expect-error a key has no property
section<Limits>({ doc: 'Limits.', keys: { name, size, note, color: note } });

// @ts-expect-error a key has another type than its property
section<Limits>({ doc: 'Limits.', keys: { name, size: name, note } });

// @ts-expect-error a property that is never undefined has a key without default that is not required
section<Limits>({ doc: 'Limits.', keys: { name: note, size, note } });
