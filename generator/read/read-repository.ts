import type { RepositorySchema } from '../schema/project-schema.js';
import { type ClassForm, extendsFramework, readClassName } from './class-form.js';
import { type ReadContext, report } from './read-context.js';
import { fileOf, locationOf } from './source-files.js';
import { constructorOf } from './syntax.js';
import { resolveClass } from './types/references.js';

/** Reads a class that extends `Repository`; undefined for any other class. */
export function readRepository(
  context: ReadContext,
  { node, heritage }: ClassForm,
): RepositorySchema | undefined {
  if (!extendsFramework(heritage, 'Repository')) return undefined;
  const name = readClassName(context, node);
  const [argument] = heritage.clause.typeArguments ?? [];
  const model = argument === undefined ? undefined : resolveClass(context, argument);
  if (name === undefined) return undefined;
  const declaredConstructor = constructorOf(node);
  if (model === undefined || declaredConstructor !== undefined) {
    report(
      context,
      'FWGEN039',
      declaredConstructor ?? argument ?? heritage.clause,
      model === undefined ? `${name} does not name its model` : `${name} declares a constructor`,
      'Write `extends Repository<X, XTables>` without a constructor: generated code makes it with (context, model).',
    );
    return undefined;
  }
  return { name, file: fileOf(node), location: locationOf(node.name ?? node), model };
}
