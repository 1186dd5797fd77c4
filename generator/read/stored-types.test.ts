import { describe, expect, test } from 'vitest';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { type ResultTexts, StoredTypes } from './stored-types.js';

function field(name: string, type: TypeSchema): FieldSchema {
  return { name, type, optional: false, nullable: false, tags: [], location: { file: 'a.ts', line: 1 } };
}

const money: TypeSchema = { kind: 'object', name: 'Money', fields: [field('amount', { kind: 'decimal' })] };
const price: TypeSchema = { kind: 'object', name: 'Price', fields: [field('net', money)] };
const bare: TypeSchema = { kind: 'object', fields: [field('net', money)] };

/** Keeps texts in memory. */
class Texts implements ResultTexts {
  readonly all: string[] = [];

  add(text: string): string {
    return String(this.all.push(text) - 1);
  }

  get(place: string): string {
    return this.all[Number(place)] ?? '';
  }
}

describe('named types of stored results', () => {
  const texts = new Texts();
  const types = new StoredTypes(texts);
  const models = [
    [field('price', price), field('paid', money), field('note', { kind: 'string' })],
    [
      field('prices', { kind: 'list', of: price }),
      field('byDay', { kind: 'record', of: money, nullable: true }),
    ],
    [field('bare', bare)],
  ];
  const stored: string = JSON.stringify(models.map((each) => types.store(each)));

  test('are stored once: in fields, lists, records and other types', () => {
    expect(texts.all.filter((text) => text.includes('"Money"'))).toHaveLength(1);
    expect(texts.all.filter((text) => text.includes('"Price"'))).toHaveLength(1);
    expect(texts.all).toHaveLength(2);
  });

  test('are restored unchanged, as one shared object', () => {
    const others = new StoredTypes(texts);
    const lists: ReturnType<StoredTypes['store']>[] = JSON.parse(stored);
    const restored = lists.map((each) => others.restore(each));
    expect(restored).toEqual(models);
    const [[first, second] = [], [list, record] = []] = restored;
    expect(list?.type).toHaveProperty('of', first?.type);
    expect(record?.type.kind === 'record' && record.type.of === second?.type).toBe(true);
  });
});
