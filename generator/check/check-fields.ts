import { editDistance } from '../../runtime/config/suggest.js';
import { type Diagnostic, diagnostic, formatLocation } from '../diagnostics.js';
import { constraintsOf, FIELD_TAGS } from '../schema/constraints.js';
import { allFields, depthOf, partsOf, withNested } from '../schema/fields.js';
import { placeKey, projectIndex } from '../schema/project-index.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import type { FieldSchema, TypeSchema } from '../schema/type-schema.js';
import { discriminatorOf } from '../schema/unions.js';

/** Rules of all fields. */
export function checkFields(schema: ProjectSchema): readonly Diagnostic[] {
  const found = [...allFields(schema)].flatMap((field) => [
    ...[checkName(field), checkType(field), checkId(schema, field)].filter((each) => each !== undefined),
    ...checkTags(field),
  ]);
  return [...found, ...checkIdleTags(schema)];
}

/** Tags with an effect, by kind of declaration. Any other tag would be ignored silently. */
const RULES = [
  ...['maxLength', 'minLength', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['integer', 'safePattern', 'minItems', 'maxItems'],
];
const EFFECTIVE = {
  model: new Set([...RULES, 'numeric', 'label']),
  event: new Set(['numeric']),
  param: new Set([...RULES, 'numeric', 'label', 'default', 'secret']),
  response: new Set([...RULES, 'numeric', 'default', 'label']),
};

/**
 * Reports tags that have an effect on no field. One comment may belong to several fields: a field of a model, and those
 * of events and responses that take their type from it.
 */
function checkIdleTags(schema: ProjectSchema): readonly Diagnostic[] {
  const tags = fieldsByPlace(schema).flatMap(([place, list]) =>
    list.flatMap((field) => field.tags.map((tag) => ({ place, field, tag }))),
  );
  const isIdle = ({ place, tag: { name } }: (typeof tags)[number]): boolean => !EFFECTIVE[place].has(name);
  const effective = new Set(
    tags.filter((each) => !isIdle(each)).map(({ tag }) => formatLocation(tag.location)),
  );
  return tags
    .filter((each) => isIdle(each) && !effective.has(formatLocation(each.tag.location)))
    .filter(({ tag }) => tag.misplaced !== true && tag.ofType !== true && FIELD_TAGS.has(tag.name))
    .map(({ place, field, tag }) =>
      diagnostic(
        'FWGEN032',
        tag.location,
        `@${tag.name} has no effect on the ${place} field ${field.name}`,
        `Remove it. Tags of ${place} fields: ${[...EFFECTIVE[place]].map((each) => `\`@${each}\``).join(', ')}.`,
      ),
    );
}

function fieldsByPlace({ models, events, actions }: ProjectSchema) {
  return [
    ...models.map((model) => ['model', model.fields] as const),
    ...events.map((event) => ['event', event.fields] as const),
    ...actions.map(({ params }) => ['param', params] as const),
    ...actions.map(({ route }) => ['response', route?.response?.fields ?? []] as const),
  ];
}

/** Tags of types that would be rules for a field, but reach neither items nor other parts of a field. */
export function unheardTags(schema: ProjectSchema): readonly Diagnostic[] {
  const found = fieldsByPlace(schema).flatMap(([place, list]) =>
    list
      .flatMap(withNested)
      .flatMap(({ name, partTags = [] }) =>
        partTags
          .filter((tag) => EFFECTIVE[place].has(tag.name))
          .map(({ name: tag, location }) =>
            diagnostic(
              'FWGEN032',
              location,
              `@${tag} has no effect on the parts of ${name}`,
              'Tags of a type reach fields of this type, not items or other parts. Check these in the action, or make each an object with a field: `{ readonly value: Tag }`.',
            ),
          ),
      ),
  );
  return [...new Map(found.toReversed().map((each) => [formatLocation(each.location), each])).values()];
}

/** Tags that are probably misspelled, and would be ignored as those of other tools: `@maxlength`, `@max`. */
export function misspelledTags(schema: ProjectSchema): readonly Diagnostic[] {
  return [...allFields(schema)].flatMap(({ name: field, tags }) =>
    tags.flatMap(({ name, location }) => {
      const meant = FIELD_TAGS.has(name) ? [] : [...FIELD_TAGS].filter((tag) => isSimilar(name, tag));
      if (meant.length === 0) return [];
      const hint = `Did you mean ${meant.map((tag) => `\`@${tag}\``).join(' or ')}?`;
      return [diagnostic('FWGEN032', location, `@${name} of ${field} has no effect`, hint)];
    }),
  );
}

function isSimilar(name: string, tag: string): boolean {
  const [written, known] = [name.toLowerCase(), tag.toLowerCase()];
  const isAbbreviated = written.length >= 3 && known.startsWith(written);
  return isAbbreviated || editDistance(written, known) <= (known.length < 7 ? 1 : 2);
}

function checkName({ name, location }: FieldSchema): Diagnostic | undefined {
  if (name === '')
    return diagnostic('FWGEN005', location, 'A field has an empty name', 'Give it one, for example `value`.');
  if (name !== '__proto__') return undefined;
  const hint = 'Rename it, for example to `proto`: JavaScript objects give this name a special meaning.';
  return diagnostic('FWGEN005', location, `A field cannot be named ${JSON.stringify(name)}`, hint);
}

function checkType(field: FieldSchema): Diagnostic | undefined {
  if (isTooDeep(field) && !withNested(field).some((each) => each !== field && isTooDeep(each))) {
    const message = `${field.name} is nested more than ${DEEPEST} levels deep`;
    return diagnostic('FWGEN003', field.location, message, 'Use `JsonValue` for deeper levels.');
  }
  for (const type of partsOf(field.type)) {
    const problem = typeProblem(type, field);
    if (problem === undefined) continue;
    const code = type.kind === 'unsupported' && type.recursive ? 'FWGEN034' : 'FWGEN003';
    const what = code === 'FWGEN034' ? 'contains itself' : (problem.cause ?? 'is not supported');
    const message = `The type ${problem.text} of ${field.name} ${what}`;
    return diagnostic(code, field.location, message, problem.hint);
  }
  return undefined;
}

function isTooDeep({ type }: FieldSchema): boolean {
  return depthOf(type) > DEEPEST;
}

/** Maximum nesting of literal types: compilers fail on much deeper ones. */
const DEEPEST = 16;

/** The reason why a field cannot have a type, and the type to use instead. */
function typeProblem(
  type: TypeSchema,
  { nullable, optional }: FieldSchema,
): { readonly text: string; readonly hint: string; readonly cause?: string } | undefined {
  switch (type.kind) {
    case 'unsupported':
      return type;
    case 'model':
      return {
        text: type.model.name,
        hint: `Use its id, \`Id<${type.model.name}>\`, or map the model to a response class.`,
      };
    case 'void':
      return { text: nullable ? 'null' : optional ? 'undefined' : 'void', hint: VOID_HINT };
    case 'enum':
      return type.values.length > 0 ? undefined : { text: 'never', hint: NEVER_HINT };
    case 'union': {
      const isClear = discriminatorOf(type.of) !== undefined;
      return isClear ? undefined : { text: unionText(type.of), hint: UNION_HINT };
    }
    default:
      return undefined;
  }
}

const VOID_HINT = 'A field needs a value: remove it, or give it a type, such as `string | null`.';
const NEVER_HINT =
  'No value has this type: remove the field, or give it another type, such as `string | null`.';
const UNION_HINT =
  "JSON must distinguish the members of a union, by kind (string, number, list) or by a literal field in each: `{ readonly kind: 'day'; readonly day: Date } | { readonly kind: 'name'; readonly name: string }`.";

function unionText(members: readonly TypeSchema[]): string {
  return members
    .map((member) => {
      if ('name' in member && member.name !== undefined) return member.name;
      return member.kind === 'object'
        ? `{ ${member.fields.map(({ name }) => name).join('; ')} }`
        : nameOfKind(member.kind);
    })
    .join(' | ');
}

function nameOfKind(kind: TypeSchema['kind']): string {
  if (kind === 'instant') return 'Date';
  if (kind === 'json') return 'JsonValue';
  const isClass = ['decimal', 'uuid', 'currency', 'id'].includes(kind);
  return isClass ? `${kind.charAt(0).toUpperCase()}${kind.slice(1)}` : kind;
}

function checkId(schema: ProjectSchema, { name, type, location }: FieldSchema): Diagnostic | undefined {
  const { modelsByPlace } = projectIndex(schema);
  for (const part of partsOf(type)) {
    if (part.kind !== 'id') continue;
    const { model, sharded } = part;
    if (!model.marked) {
      const message = `${name} is an id of ${model.name}, which is not a model`;
      const hint = 'Mark that class with `@AutoBuilder`, or use `Uuid`.';
      return diagnostic('FWGEN031', location, message, hint);
    }
    if (!sharded || modelsByPlace.get(placeKey(model))?.sharded !== false) continue;
    const message = `${name} is a ShardedId of ${model.name}, which has plain ids`;
    return diagnostic('FWGEN031', location, message, `Use \`Id<${model.name}>\`.`);
  }
  return undefined;
}

/** Whether a tag fits is known only for a type that is supported. */
function checkTags(field: FieldSchema): readonly Diagnostic[] {
  if (field.type.kind === 'unsupported') return [];
  return constraintsOf(field).problems.map(({ tag, message, hint }) =>
    diagnostic('FWGEN032', tag.location, `${message} is not valid for the field ${field.name}`, hint),
  );
}
