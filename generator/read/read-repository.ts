import type { RepositorySchema } from '../schema/project-schema.js';
import { type ClassForm, placeOf, readClassName } from './class-form.js';
import type { ReadContext } from './read-context.js';
import { constructorOf, isBase } from './syntax.js';
import { leadsTo } from './types/lineage.js';
import { resolveClass } from './types/model-classes.js';
import { reportRefusal } from './unresolved.js';

/**
 * Reads a class that extends `Repository`, directly or through classes of this project. @returns undefined for any
 * other class
 */
export function readRepository(
  context: ReadContext,
  { node, lineage }: ClassForm,
): RepositorySchema | undefined {
  const { heritage } = lineage;
  if (heritage === undefined || !leadsTo(lineage, 'Repository') || isBase(node)) return undefined;
  const name = readClassName(context, node);
  const [argument] = lineage.arguments;
  const model = argument === undefined ? undefined : resolveClass(context, argument);
  if (name === undefined) return undefined;
  const declaredConstructor = lineage.classes.map(constructorOf).find((each) => each !== undefined);
  if (model === undefined || declaredConstructor !== undefined) {
    return reportRefusal(context, {
      code: 'FWGEN039',
      node: declaredConstructor ?? heritage.clause,
      subject: name,
      message: model === undefined ? `${name} does not name its model` : `${name} declares a constructor`,
      hint: 'Write `extends Repository<X, XTables>` without a constructor: generated code passes (context, model).',
    });
  }
  return { name, ...placeOf(node), model };
}
