import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { constraintsOf, isFieldTag } from '../schema/constraints.js';
import { allFields, innermost } from '../schema/fields.js';
import { placeKey, projectIndex } from '../schema/project-index.js';
import type { ModelSchema, ProjectSchema } from '../schema/project-schema.js';
import { sqlPattern } from '../schema/sql-pattern.js';
import type { FieldSchema } from '../schema/type-schema.js';

/** Rules that hold for every field, wherever it is declared. @param whole schema that ids are looked up in */
export function checkFields(schema: ProjectSchema, whole: ProjectSchema = schema): readonly Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const field of allFields(schema)) {
    for (const problem of [checkName(field), checkType(field), checkId(whole, field)]) {
      if (problem !== undefined) found.push(problem);
    }
    found.push(...checkTags(field));
  }
  found.push(...checkIdleTags(schema), ...schema.models.flatMap(checkPatterns));
  return found;
}

/** Tags that mean something in each place. What is missing here would be a promise that is not kept. */
const RULES = [
  ...['maxLength', 'minLength', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  'integer',
];
const EFFECTIVE = {
  model: new Set([...RULES, 'numeric', 'label', 'renamedFrom']),
  event: new Set(['numeric']),
  param: new Set([...RULES, 'numeric', 'label', 'default', 'secret']),
  response: new Set([...RULES, 'numeric', 'default', 'label']),
};

type FieldPlace = keyof typeof EFFECTIVE;

/** Tags on fields where they have no effect. */
function checkIdleTags({ models, events, actions }: ProjectSchema): readonly Diagnostic[] {
  return [
    ...models.flatMap(({ fields }) => idleTags(fields, 'model')),
    ...events.flatMap(({ fields }) => idleTags(fields, 'event')),
    ...actions.flatMap(({ params }) => idleTags(params, 'param')),
    ...actions.flatMap(({ route }) => idleTags(route?.response?.fields ?? [], 'response')),
  ];
}

function idleTags(fields: readonly FieldSchema[], place: FieldPlace): readonly Diagnostic[] {
  return fields.flatMap(({ name, tags }) =>
    tags
      .filter((tag) => tag.misplaced !== true && isFieldTag(tag.name) && !EFFECTIVE[place].has(tag.name))
      .map((tag) =>
        diagnostic(
          'FWGEN032',
          tag.location,
          `@${tag.name} has no effect on the ${place} field ${name}`,
          `Remove it. Tags of ${place} fields: ${[...EFFECTIVE[place]].map((each) => `@${each}`).join(', ')}.`,
        ),
      ),
  );
}

function checkName(field: FieldSchema): Diagnostic | undefined {
  if (field.name !== '__proto__' && field.name !== '') return undefined;
  return diagnostic(
    'FWGEN005',
    field.location,
    `A field cannot be named ${JSON.stringify(field.name)}`,
    'Rename it: objects treat this name in a way of their own.',
  );
}

function checkType(field: FieldSchema): Diagnostic | undefined {
  const type = innermost(field.type);
  if (type.kind === 'unsupported') {
    const code = type.recursive ? 'FWGEN034' : 'FWGEN003';
    const problem = type.recursive ? 'contains itself' : 'is not supported';
    return diagnostic(code, field.location, `The type ${type.text} of ${field.name} ${problem}`, type.hint);
  }
  if (type.kind !== 'model' && type.kind !== 'void') return undefined;
  const [text, hint] =
    type.kind === 'model'
      ? [type.model.name, `Hold its id (Id<${type.model.name}>), or map it to a response class.`]
      : ['void', 'A field needs a value: remove it or give it a type.'];
  return diagnostic('FWGEN003', field.location, `The type ${text} of ${field.name} is not supported`, hint);
}

function checkId(schema: ProjectSchema, field: FieldSchema): Diagnostic | undefined {
  const type = innermost(field.type);
  if (type.kind !== 'id') return undefined;
  const model = projectIndex(schema).modelsByPlace.get(placeKey(type.model));
  if (!type.model.marked) {
    const message = `${field.name} is an id of ${type.model.name}, which is no model`;
    return diagnostic('FWGEN031', field.location, message, 'Mark that class with @AutoBuilder, or use Uuid.');
  }
  if (model === undefined || model.sharded || !type.sharded) return undefined;
  const message = `${field.name} is a ShardedId of ${model.name}, whose ids are not sharded`;
  return diagnostic('FWGEN031', field.location, message, `Use Id<${model.name}>.`);
}

/** Patterns that PostgreSQL cannot check, in models whose rules it is to check. */
function checkPatterns({ checks, fields }: ModelSchema): readonly Diagnostic[] {
  if (checks !== true) return [];
  return fields.flatMap((field) => {
    const { pattern } = constraintsOf(field).constraints;
    const tag = field.tags.find(({ name }) => name === 'pattern');
    if (pattern === undefined || tag === undefined || sqlPattern(pattern) !== undefined) return [];
    const hint =
      'Use characters, classes in brackets, \\d, \\w, groups, alternatives and quantifiers only, or take `checks` out.';
    const message = `@pattern ${pattern} of ${field.name} cannot be a check constraint`;
    return [diagnostic('FWGEN032', tag.location, message, hint)];
  });
}

function checkTags(field: FieldSchema): readonly Diagnostic[] {
  return constraintsOf(field).problems.map(({ tag, message, hint }) =>
    diagnostic('FWGEN032', tag.location, `${message} does not fit the field ${field.name}`, hint),
  );
}
