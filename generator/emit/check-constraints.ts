import { columnsOf } from '../schema/columns.js';
import { type Constraints, constraintsOf } from '../schema/constraints.js';
import { modelNames } from '../schema/model-names.js';
import { snakeCase } from '../schema/naming.js';
import type { ModelSchema } from '../schema/project-schema.js';
import { sqlPattern } from '../schema/sql-pattern.js';
import { hexHash, shortName, sqlName } from './print/sql.js';

/** A field's rule as a check constraint of its table. */
export interface RuleCheck {
  /** Contains table, column and rule. Changes with the condition. */
  readonly name: string;
  /** SQL condition. Null satisfies every rule. */
  readonly condition: string;
}

/** Rules with a bound that the database can check: the operator between the bound and the column or its size. */
const OPERATORS = {
  minLength: '>=',
  maxLength: '<=',
  minItems: '>=',
  maxItems: '<=',
  minimum: '>=',
  maximum: '<=',
  exclusiveMinimum: '>',
  exclusiveMaximum: '<',
} as const satisfies Partial<Record<keyof Constraints, string>>;

/** The rules of a model's fields as check constraints; empty without `@AutoBuilder({ checks: true })`. */
export function ruleChecks(model: ModelSchema): readonly RuleCheck[] {
  if (model.checks !== true) return [];
  const { table } = modelNames(model);
  return columnsOf(model).flatMap(({ field, column }) =>
    conditionsOf(constraintsOf(field).constraints, sqlName(column)).map(({ rule, condition }) => {
      const name = `rule_${table}_${column}_${snakeCase(rule)}_${hexHash(condition).slice(0, 8)}`;
      return { name: shortName(name, 'rule'), condition };
    }),
  );
}

interface RuleCondition {
  readonly rule: string;
  readonly condition: string;
}

function conditionsOf(constraints: Constraints, column: string): readonly RuleCondition[] {
  const bounds = Object.entries(OPERATORS).flatMap(([rule, operator]): RuleCondition[] => {
    const bound = constraints[rule as keyof typeof OPERATORS];
    if (bound === undefined) return [];
    return [{ rule, condition: `${measured(rule, column)} ${operator} ${bound}` }];
  });
  const pattern = constraints.pattern === undefined ? undefined : sqlPattern(constraints.pattern);
  // The checks report a pattern that PostgreSQL cannot express.
  if (pattern === undefined) return bounds;
  return [...bounds, { rule: 'pattern', condition: `${column} ~ '${pattern.replaceAll("'", "''")}'` }];
}

function measured(rule: string, column: string): string {
  if (rule.endsWith('Length')) return `char_length(${column})`;
  return rule.endsWith('Items') ? `jsonb_array_length(${column})` : column;
}
