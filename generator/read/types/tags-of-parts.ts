import type { DocTag } from '../../schema/type-schema.js';
import { ts } from '../compiler.js';
import type { ReadContext } from '../read-context.js';
import { readDoc } from '../read-doc.js';
import { extendsClause } from '../syntax.js';
import { followLineage } from './lineage.js';
import { declarationsOf } from './source-order.js';

/**
 * Returns tags of the declared types and properties that a type is made of: `Record<string, Pin>`. For the checker, an
 * alias of a text is the text, so it does not know where the alias went: then all of the type is secret.
 */
export function tagsOfParts(
  context: ReadContext,
  node: ts.Node,
  visited: Set<ts.Node> = new Set(),
): readonly DocTag[] {
  // The checker knows which members there are, and each has its own tags.
  if (visited.has(node) || ts.isTypeLiteralNode(node)) return [];
  visited.add(node);
  const found: DocTag[] = [];
  for (const declaration of namedBy(context, node))
    found.push(...readDoc(declaration).tags, ...tagsOfParts(context, declaration, visited));
  ts.forEachChild(node, (child) => {
    const isMember = ts.isInterfaceDeclaration(node) && ts.isTypeElement(child);
    if (!isMember) found.push(...tagsOfParts(context, child, visited));
  });
  return found.map((tag) => ({ ...tag, ofType: true }));
}

/** The alias, interface or enum that a node names, or the property that it selects. */
function namedBy({ checker }: ReadContext, node: ts.Node): readonly ts.Declaration[] {
  const types = checker.of(node.getSourceFile());
  if (ts.isIndexedAccessTypeNode(node)) return selectedMember(types, node)?.declarations ?? [];
  const name = nameIn(node);
  if (name === undefined) return [];
  return declarationsOf(types, name)
    .map((each) => (ts.isEnumMember(each) ? each.parent : each))
    .filter(isTypeDeclaration);
}

function nameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  return ts.isExpressionWithTypeArguments(node) ? node.expression : undefined;
}

function isTypeDeclaration(node: ts.Node): boolean {
  return ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node);
}

/** Returns the property that `Owner['name']` selects. */
export function selectedMember(
  checker: ts.TypeChecker,
  node: ts.IndexedAccessTypeNode,
): ts.Symbol | undefined {
  const index = checker.getTypeFromTypeNode(node.indexType);
  const owner = checker.getTypeFromTypeNode(node.objectType);
  return index.isStringLiteral() ? checker.getPropertyOfType(owner, index.value) : undefined;
}

/** Returns the tags of what a class and its base classes give as type arguments to classes of this project. */
export function tagsOfBases(context: ReadContext, leaf: ts.ClassDeclaration): readonly DocTag[] {
  const clauses = followLineage(context, leaf).classes.slice(0, -1).map(extendsClause);
  return clauses.flatMap((clause) => (clause === undefined ? [] : tagsOfParts(context, clause)));
}
