import { projectIndex } from '../../schema/project-index.js';
import type { ProjectSchema } from '../../schema/project-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { resolveName } from '../resolver.js';
import { fileOf } from '../source-files.js';
import { isInstanceMember, parameterProperties } from '../syntax.js';

/** Returns the properties of an action class that contain a repository, with the repository's model. */
export function repositoriesOf(
  context: ReadContext,
  schema: ProjectSchema,
  node: ts.ClassDeclaration,
): ReadonlyMap<string, string> {
  const index = projectIndex(schema);
  const properties = node.members
    .filter((member) => ts.isPropertyDeclaration(member))
    .filter((member) => isInstanceMember(member));
  const found = new Map<string, string>();
  for (const { name, type } of [...properties, ...parameterProperties(node)]) {
    if (type === undefined || !ts.isTypeReferenceNode(type)) continue;
    const resolved = resolveName(context, node.getSourceFile(), type.typeName.getText());
    const model =
      resolved.kind === 'generated'
        ? index.modelsByRepository.get(resolved.name)?.name
        : resolved.kind === 'declared' && ts.isClassDeclaration(resolved.declaration)
          ? index.repositories.get(`${fileOf(resolved.declaration)}#${resolved.declaration.name?.text ?? ''}`)
              ?.model.name
          : undefined;
    if (model !== undefined) found.set(name.getText(), model);
  }
  return found;
}
