import type { ActionSchema } from '../schema/project-schema.js';
import { ts } from './compiler.js';
import type { ReadContext } from './read-context.js';
import { classNamed } from './syntax.js';

/** The class of an action, and its `perform` if it has its own; undefined if the class no longer exists. */
export function performOf(
  { sources }: ReadContext,
  { file, className }: Pick<ActionSchema, 'file' | 'className'>,
): { readonly node: ts.ClassDeclaration; readonly perform: ts.MethodDeclaration | undefined } | undefined {
  const source = sources.load(file);
  const node = source && classNamed(source, className);
  const perform = node?.members.find(
    (member): member is ts.MethodDeclaration =>
      ts.isMethodDeclaration(member) && member.name.getText() === 'perform' && member.body !== undefined,
  );
  return node && { node, perform };
}
