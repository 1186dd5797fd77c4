import type { PrintedText, PrintedTexts } from '../schema/printed-texts.js';
import type { FieldSchema } from '../schema/type-schema.js';
import type { Found } from './found.js';
import type { ResultTexts, StoredField, StoredTypes } from './stored-types.js';

/** Texts of results, their named types and their printed declarations. */
export interface ResultsStore {
  readonly texts: ResultTexts;
  readonly types: StoredTypes;
  readonly printed: PrintedTexts;
}

/** The part of a result that most runs read. */
interface Head {
  /** Without the fields of models, events and params, unless a declaration has none. */
  readonly found: Partial<Found>;
  /** Place of these fields: one list per declaration. */
  readonly fields: string;
  /** Printed events and actions. */
  readonly printed: readonly (PrintedText | null)[];
}

/**
 * Stores the result of one file. Its fields are stored separately, because few runs read the fields of all files.
 * @returns its place
 */
export function storeFound(found: Partial<Found>, { texts, types, printed }: ResultsStore): string {
  const { models, events, actions } = found;
  const lists = [
    ...[...(models ?? []), ...(events ?? [])].map((each) => each.fields),
    ...(actions ?? []).map(({ params }) => params),
  ];
  if (lists.length === 0) return texts.add(JSON.stringify({ found }));
  const head = {
    found: {
      ...found,
      models: models?.map((each) => ({ ...each, fields: ifEmpty(each.fields) })),
      events: events?.map((each) => ({ ...each, fields: ifEmpty(each.fields) })),
      actions: actions?.map((each) => ({ ...each, params: ifEmpty(each.params) })),
    },
    fields: texts.add(JSON.stringify(lists.map((list) => types.store(list)))),
    printed: [...(events ?? []), ...(actions ?? [])].map((each) => printed.of(each) ?? null),
  };
  return texts.add(JSON.stringify(head));
}

function ifEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? list : undefined;
}

/** Restores a result that `storeFound` stored. Its fields are read on first use. */
export function restoreFound(place: string, store: ResultsStore): Partial<Found> {
  const { texts, types } = store;
  const { found, fields, printed }: Head = JSON.parse(texts.get(place));
  const { models = [], events = [], actions = [] } = found;
  let lists: readonly (readonly FieldSchema[])[] | undefined;
  const fieldsAt = (index: number): readonly FieldSchema[] => {
    lists ??= parseLists(texts.get(fields)).map((list) => types.restore(list));
    return lists[index] ?? [];
  };
  for (const [index, each] of [...models, ...events, ...actions].entries()) {
    const property = 'className' in each ? 'params' : 'fields';
    if (!(property in each))
      Object.defineProperty(each, property, { enumerable: true, get: () => fieldsAt(index) });
  }
  for (const [index, each] of [...events, ...actions].entries()) {
    const text = printed[index];
    if (text !== null && text !== undefined) store.printed.keep(each, text);
  }
  return found;
}

function parseLists(text: string): readonly (readonly StoredField[])[] {
  return JSON.parse(text);
}
