import type { FieldDescriptor, FieldType } from '../domain/descriptor.js';
import { exampleFields } from '../domain/kinds/document-kinds.js';
import type { Json, JsonPart } from '../domain/kinds/json-schema.js';
import { kindOf } from '../domain/kinds/kinds.js';
import { compileRules, type ValueRules } from '../domain/value-rules.js';

/** An example response with these fields. Undefined: a field has a rule, such as a pattern, that needs a value of its own. */
export function exampleOf(fields: readonly FieldDescriptor[]): JsonPart | undefined {
  let isValid = true;
  const part = (type: FieldType, name: string, rules: ValueRules = {}): Json => {
    const example = kindOf(type).example(type, name, (inner, field = name, own) => part(inner, field, own));
    const check = compileRules(rules);
    const fitting = candidates(example, rules).find((each) => check(each) === undefined);
    isValid &&= fitting !== undefined;
    return fitting ?? example;
  };
  const example = exampleFields(fields, part);
  return isValid ? example : undefined;
}

/** Values like this one, of which one may satisfy the rules. */
function candidates(example: Json, rules: ValueRules): readonly Json[] {
  const { minimum = 0, maximum = 0, exclusiveMinimum = 0, exclusiveMaximum = 0 } = rules;
  const { minLength = 0, maxLength, minItems = 0, maxItems } = rules;
  if (typeof example === 'number')
    return [example, minimum, maximum, exclusiveMinimum + 1, exclusiveMaximum - 1];
  if (typeof example === 'string') return [example.padEnd(minLength, 'x').slice(0, maxLength)];
  if (!Array.isArray(example)) return [example];
  const items: readonly Json[] = example;
  return [items, items.slice(0, maxItems), Array.from({ length: minItems }, () => items[0] ?? null)];
}
