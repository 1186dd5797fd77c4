import { type Diagnostic, type DiagnosticCode, diagnostic, formatLocation } from '../diagnostics.js';
import type { SourceLocation } from '../schema/location.js';
import { modelNames } from '../schema/model-names.js';
import {
  type EventSchema,
  type ModelSchema,
  type ProjectSchema,
  storedNameOf,
} from '../schema/project-schema.js';

/** Emitted files that do not have the name of a model. */
const RESERVED_FILES: readonly string[] = ['application', 'server', 'versions'];

/** Static members of every class, inherited members, and members of every builder. */
const RESERVED_STATICS: ReadonlySet<string> = new Set([
  ...'name length prototype caller arguments apply call bind copyOf'.split(' '),
  ...Object.getOwnPropertyNames(Object.prototype),
]);

interface Named {
  readonly name: string;
  readonly location: SourceLocation;
}

/** Checks names that must be unique, and names that emitted code uses itself. */
export function checkNames(schema: ProjectSchema): readonly Diagnostic[] {
  const models = 'Rename one of the classes. The name is stored as `model_name` in the outbox.';
  const events =
    'Rename one of the classes, or remove the alias. The name is stored as `event_type` in the outbox.';
  const actions = "Rename one of the classes, or set another name: @FwAction({ name: '...' }).";
  return [
    ...duplicates('FWGEN013', 'model', schema.models.flatMap(namesOf), models),
    ...duplicates('FWGEN014', 'event', schema.events.flatMap(namesOf), events),
    ...duplicates('FWGEN015', 'action', schema.actions, actions),
    ...checkTables(schema.models),
    ...schema.models.flatMap(checkModelName),
  ];
}

/** A class name and its stable names. Emitted code uses the first, stored data the others. */
function namesOf(named: ModelSchema | EventSchema): readonly Named[] {
  const aliases = 'aliases' in named ? (named.aliases ?? []) : [];
  const { location } = named;
  return [...new Set([named.name, storedNameOf(named), ...aliases])].map((name) => ({ name, location }));
}

/** Reports things with the name of an earlier one. @param what their kind */
export function duplicates(
  code: DiagnosticCode,
  what: string,
  things: readonly Named[],
  hint: string,
): readonly Diagnostic[] {
  return repeated(things, (thing) => thing.name).map(([first, { name, location }]) => {
    const message = `The ${what} name ${JSON.stringify(name)} is already used at ${formatLocation(first.location)}`;
    return diagnostic(code, location, message, hint);
  });
}

function checkTables(models: readonly ModelSchema[]): readonly Diagnostic[] {
  const distinct = [...new Map(models.map((model) => [model.name, model])).values()];
  const tables = repeated(distinct, (model) => modelNames(model).table).map(([first, second]) => {
    const message = `The table ${JSON.stringify(modelNames(second).table)} already belongs to ${first.name} at ${formatLocation(first.location)}`;
    const hint = "Set another table: @AutoBuilder({ table: '...' }).";
    return diagnostic('FWGEN016', second.table?.location ?? second.location, message, hint);
  });
  const files = repeated(distinct, (model) => modelNames(model).file).map(([first, second]) => {
    const message = `${second.name} and ${first.name} at ${formatLocation(first.location)} would both be emitted to ${modelNames(second).file}.ts`;
    return diagnostic('FWGEN016', second.location, message, 'Rename one of the classes.');
  });
  return [...tables, ...files];
}

function checkModelName(model: ModelSchema): readonly Diagnostic[] {
  const { file, variable } = modelNames(model);
  const taken = RESERVED_FILES.includes(file)
    ? `${file}.ts is an emitted file of the application`
    : RESERVED_STATICS.has(variable)
      ? `its builder cannot have a static method ${variable}()`
      : undefined;
  if (taken === undefined) return [];
  const message = `A model cannot be named ${model.name}: ${taken}`;
  return [diagnostic('FWGEN021', model.location, message, 'Rename the class.')];
}

/** Pairs of the first item with a key and each later one. */
export function repeated<T>(things: readonly T[], keyOf: (thing: T) => string): readonly (readonly [T, T])[] {
  const seen = new Map<string, T>();
  const pairs: (readonly [T, T])[] = [];
  for (const thing of things) {
    const first = seen.get(keyOf(thing));
    if (first === undefined) seen.set(keyOf(thing), thing);
    else pairs.push([first, thing]);
  }
  return pairs;
}
