import type { FieldTexts } from '../schema/field-texts.js';
import type { FieldSchema } from '../schema/type-schema.js';
import type { Found } from './found.js';

/** Where texts of results are kept: most runs want few of them. */
export interface ResultTexts {
  /** Keeps a text. @returns where, in one word */
  add(text: string): string;
  /** @throws LostResultError if it is not there, or not what was kept */
  get(place: string): string;
}

/** Texts of results, and what was printed of them. */
export interface ResultsStore {
  readonly texts: ResultTexts;
  readonly fields: FieldTexts;
}

/** What most runs look at. */
interface Head {
  /** Without the fields of models, events and params, but for declarations that have none. */
  readonly found: Partial<Found>;
  /** Where these fields are, a list per declaration. */
  readonly fields: string;
  /** Printed fields of events and params. */
  readonly printed: readonly (string | null)[];
}

/** Stores what one file gave, its fields apart from the rest: few runs look at those of all files. @returns where it is */
export function storeFound(found: Partial<Found>, { texts, fields }: ResultsStore): string {
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
    fields: texts.add(JSON.stringify(lists)),
    printed: [...(events ?? []), ...(actions ?? [])].map((each) => fields.of(each) ?? null),
  };
  return texts.add(JSON.stringify(head));
}

function ifEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? list : undefined;
}

/** What `storeFound` stored. Fields are read when they are looked at. */
export function restoreFound(place: string, { texts, fields }: ResultsStore): Partial<Found> {
  const { found, fields: fieldsPlace, printed }: Head = JSON.parse(texts.get(place));
  const { models = [], events = [], actions = [] } = found;
  let lists: readonly (readonly FieldSchema[])[] | undefined;
  const fieldsAt = (index: number): readonly FieldSchema[] => {
    lists ??= parseLists(texts.get(fieldsPlace));
    return lists[index] ?? [];
  };
  for (const [index, each] of [...models, ...events, ...actions].entries()) {
    const property = 'className' in each ? 'params' : 'fields';
    if (!(property in each))
      Object.defineProperty(each, property, { enumerable: true, get: () => fieldsAt(index) });
  }
  for (const [index, each] of [...events, ...actions].entries()) {
    const text = printed[index];
    if (typeof text === 'string') fields.keep(each, text);
  }
  return found;
}

function parseLists(text: string): readonly (readonly FieldSchema[])[] {
  return JSON.parse(text);
}
