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
  const head: Head | Pick<Head, 'found'> = JSON.parse(texts.get(place));
  if (!('fields' in head)) return head.found;
  const { found, fields, printed } = head;
  const { models = NONE, events = NONE, actions = NONE } = found;
  let lists: readonly (readonly FieldSchema[])[] | undefined;
  let index = 0;
  const restoreLater = (declaration: object, property: 'fields' | 'params'): void => {
    const own = index;
    index += 1;
    if (property in declaration) return;
    const get = (): readonly FieldSchema[] => {
      lists ??= parseLists(texts.get(fields)).map((list) => types.restore(list));
      return lists[own] ?? [];
    };
    Object.defineProperty(declaration, property, { enumerable: true, get });
  };
  for (const each of models) restoreLater(each, 'fields');
  for (const each of events) restoreLater(each, 'fields');
  for (const each of actions) restoreLater(each, 'params');
  for (const [place, text] of printed.entries()) {
    const declaration = events[place] ?? actions[place - events.length];
    if (text !== null && declaration !== undefined) store.printed.keep(declaration, text);
  }
  return found;
}

const NONE: readonly never[] = [];

function parseLists(text: string): readonly (readonly StoredField[])[] {
  return JSON.parse(text);
}
