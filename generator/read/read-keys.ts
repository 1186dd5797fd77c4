import type { KeySchema, Located } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import { type ReadContext, report } from './read-context.js';
import { decoratorArguments, decoratorName } from './read-decorator.js';
import { type Expected, propertyName, readFitting } from './read-literal.js';
import { locationOf } from './source-files.js';
import { instanceProperties } from './syntax.js';

/**
 * Reads the natural keys that `@Key` declares on fields of a model and its base classes; undefined if there are none.
 */
export function readKeys(
  context: ReadContext,
  classes: readonly ts.ClassDeclaration[],
): readonly KeySchema[] | undefined {
  const keys = new Map<string, Located<string>[]>();
  for (const member of classes.flatMap(instanceProperties)) {
    for (const decorator of member.modifiers ?? []) {
      if (!ts.isDecorator(decorator) || decoratorName(context, decorator) !== 'Key') continue;
      const name = readName(context, decorator);
      if (name === undefined) continue;
      const fields = keys.get(name) ?? [];
      keys.set(name, fields);
      const field = propertyName(member.name) ?? member.name.getText();
      if (fields.some(({ value }) => value === field)) reportTwice(context, decorator, field);
      else fields.push({ value: field, location: locationOf(decorator) });
    }
  }
  if (keys.size === 0) return undefined;
  return [...keys]
    .map(([name, fields]): KeySchema => (name === '' ? { fields } : { name, fields }))
    .sort((a, b) => Number(a.name !== undefined) - Number(b.name !== undefined));
}

/** Reads the name of a key; '' for the key without a name, undefined for an invalid one. */
function readName(context: ReadContext, decorator: ts.Decorator): string | undefined {
  const [argument] = decoratorArguments(decorator);
  return argument === undefined ? '' : readFitting(context, argument, KEY_NAME);
}

const KEY_NAME: Required<Expected<string>> = {
  isFit: (value): value is string => typeof value === 'string' && value !== '',
  problem: 'is not a valid key name',
  hint: "Write a string literal: @Key('email').",
};

function reportTwice(context: ReadContext, decorator: ts.Decorator, field: string): void {
  const hint = "Remove one of them, or give it the name of another key: @Key('email').";
  report(context, 'FWGEN059', decorator, `@Key is repeated on ${field}`, hint);
}
