import { posix } from 'node:path';
import { editDistance } from '../../runtime/config/suggest.js';
import type { DiagnosticCode } from '../diagnostics.js';
import { partsOf } from '../schema/fields.js';
import { relativePath } from '../schema/paths.js';
import type { TypeSchema } from '../schema/type-schema.js';
import { ts } from './compiler.js';
import { exportedNames, namesIn } from './module-names.js';
import { type ReadContext, report } from './read-context.js';
import { PACKAGE_NAME, resolveName } from './resolver.js';
import { fileOf } from './source-files.js';
import { isName, isValueDeclaration, nameText } from './syntax.js';
import { plain, type ReadType, SUPPORTED, unsupported } from './types/type-results.js';

/** Why a name means nothing, and what to write. */
export interface Unresolved {
  /** Follows the thing that has the name: `names Addres, which this file neither declares nor imports`. */
  readonly cause: string;
  /** The name or the import that was probably meant. */
  readonly remedy: string | undefined;
  /** The same, or how to declare the name. */
  readonly hint: string;
}

/** Names the cause of an unsupported type if it is a name that means nothing. */
export function withCause(context: ReadContext, node: ts.TypeNode, type: TypeSchema): TypeSchema {
  const refused = partsOf(type).find((part) => part.kind === 'unsupported');
  if (refused?.kind !== 'unsupported' || refused.recursive === true) return type;
  const found =
    firstUnresolved(context, node) ?? (refused.hint === SUPPORTED ? foreign(context, node) : undefined);
  return found === undefined
    ? type
    : { kind: 'unsupported', text: refused.text, cause: found.cause, hint: found.hint };
}

/** The error for a type whose name means nothing. */
export function unknownType(context: ReadContext, node: ts.TypeNode): ReadType {
  return plain(withCause(context, node, unsupported(node).type));
}

/** A type of a package, if the node itself names one. */
function foreign(context: ReadContext, node: ts.TypeNode): Unresolved | undefined {
  if (!ts.isTypeReferenceNode(node)) return undefined;
  const name = nameText(node.typeName);
  const resolved = resolveName(context, node.typeName);
  if (resolved.kind !== 'package') return undefined;
  return {
    cause: `names ${name} of the package '${resolved.module}', which the generator cannot read`,
    remedy: undefined,
    hint: declarationHint({ node, name, isValue: false }),
  };
}

/** The first name below a node that means nothing; undefined if every name is known. */
export function firstUnresolved(context: ReadContext, node: ts.Node): Unresolved | undefined {
  const name = nameIn(node);
  return (
    (name && unresolved(context, name, !ts.isTypeReferenceNode(node))) ??
    ts.forEachChild(node, (child) => (ts.isTypeNode(child) ? firstUnresolved(context, child) : undefined))
  );
}

/** The name that a type, a base class or an expression consists of. */
function nameIn(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  // A call, such as that of a mixin, is no name.
  if (ts.isExpressionWithTypeArguments(node)) return isName(node.expression) ? node.expression : undefined;
  return ts.isIdentifier(node) ? node : undefined;
}

/** What a mistake is about. */
export interface Refusal {
  readonly code: DiagnosticCode;
  readonly node: ts.Node;
  readonly message: string;
  /** The start of the message if a name means nothing: `The response`. */
  readonly subject: string;
  readonly hint: string;
}

/** Reports a mistake, or its cause if a name below its node, or below `named`, means nothing. @returns undefined */
export function reportRefusal(
  context: ReadContext,
  { code, node, message, subject, hint }: Refusal,
  named: ts.Node = node,
): undefined {
  const unknown = firstUnresolved(context, named);
  const text = unknown === undefined ? message : `${subject} ${unknown.cause}`;
  return report(context, code, node, text, unknown?.remedy ?? hint);
}

/** A name in a source. */
interface Use {
  readonly node: ts.Node;
  readonly name: string;
  /** Whether it names a value, such as a base class, so that a type-only import is not enough. */
  readonly isValue: boolean;
}

function unresolved(context: ReadContext, node: ts.Node, isValue: boolean): Unresolved | undefined {
  const problem = problemOf(context, node);
  if (problem === undefined) return undefined;
  const text = nameText(node);
  // `shapes.Far` is declared as `Far`.
  const own = { node, name: text.slice(text.lastIndexOf('.') + 1), isValue };
  const remedy = importHint(context, own) ?? spellingHint(own);
  return { cause: `names ${text}${problem}`, remedy, hint: remedy ?? declarationHint(own) };
}

function problemOf(context: ReadContext, node: ts.Node): string | undefined {
  const resolved = resolveName(context, node);
  switch (resolved.kind) {
    case 'package':
      return ALIAS.test(resolved.module)
        ? ` of '${resolved.module}', a path alias that leads to no source`
        : undefined;
    case 'missing': {
      const problem = resolved.name === undefined ? 'does not exist' : `does not export ${resolved.name}`;
      return ` of '${resolved.specifier}', which ${problem}`;
    }
    case 'global':
      return isKnown(context, node, resolved.name)
        ? undefined
        : ', which this file neither declares nor imports';
    case 'framework':
    case 'generated':
    case 'declared':
      return undefined;
  }
}

/** `@/models`, `~/models` and `#models` are not names of packages. */
const ALIAS = /^(@\/|~|#)/;

/** Whether a name is that of a declaration in its scope or of the language, such as a type parameter or `Partial`. */
function isKnown({ checker }: ReadContext, node: ts.Node, name: string): boolean {
  if (name.includes('.') || name in globalThis) return true;
  const symbols = checker.of(node.getSourceFile()).getSymbolsInScope(node, ANY_MEANING);
  return symbols.some((symbol) => symbol.name === name);
}

const ANY_MEANING = ts.SymbolFlags.Type | ts.SymbolFlags.Value | ts.SymbolFlags.Namespace;

/** Names of this package that types of fields, constructor parameters and base classes have. */
const OWN_NAMES: ReadonlySet<string> = new Set(
  (
    'Decimal Uuid Currency JsonValue Default Id ShardedId ShardIdentifier Principal Clock EventHistory Placement ' +
    'EventEnvelope Model Entity ModelEvent Repository Action Saga'
  ).split(' '),
);

/** The import of a name from this package, or from the first source that exports it. */
function importHint(context: ReadContext, { node, name: local, isValue }: Use): string | undefined {
  const name = namesIn(node.getSourceFile()).imports.get(local)?.name ?? local;
  // A base class is a value.
  const start = isValue ? 'import' : 'import type';
  const importFrom = (bound: string, specifier: string): string =>
    `Import it: \`${start} ${bound} from '${specifier}';\`.`;
  const bound = name === local ? `{ ${name} }` : `{ ${name} as ${local} }`;
  if (OWN_NAMES.has(name)) return importFrom(bound, PACKAGE_NAME);
  const from = fileOf(node);
  for (const file of [...context.sources.requested].sort()) {
    if (file === from || /\.d\.[cm]?ts$|\.sql$/.test(file)) continue;
    // Only files with the name are parsed.
    const other =
      context.sources.text(file)?.includes(name) === true ? context.sources.load(file) : undefined;
    if (other === undefined) continue;
    const exported = namesIn(other).exports.get(name);
    if (exported !== undefined && exported.specifier === undefined)
      return importFrom(bound, specifierOf(from, file));
    if (exportedNames(other, name).includes('default')) return importFrom(local, specifierOf(from, file));
  }
  return undefined;
}

/** `../models/address.js` */
function specifierOf(from: string, to: string): string {
  const path = relativePath(posix.dirname(from), to).replace(/\.([cm]?)tsx?$/, '.$1js');
  return path.startsWith('.') ? path : `./${path}`;
}

function declarationHint({ name, isValue }: Use): string {
  const declaration = isValue
    ? `export abstract class ${name} {}`
    : `export interface ${name} { readonly field: string }`;
  return `Declare it, \`${declaration}\`, or import it.`;
}

/** Suggests a name that differs by one letter in four. */
function spellingHint({ node, name }: Use): string | undefined {
  const { declarations, imports } = namesIn(node.getSourceFile());
  // A name that is imported is rarely misspelled.
  if (imports.has(name)) return undefined;
  const types = [...declarations].filter(([, all]) => !all.every(isValueDeclaration));
  const named = [...imports].filter(([, binding]) => binding.name !== '*');
  const meant = [...[...types, ...named].map(([each]) => each), ...OWN_NAMES].find(
    (each) =>
      editDistance(each.toLowerCase(), name.toLowerCase()) <= Math.max(1, Math.floor(name.length / 4)),
  );
  return meant === undefined ? undefined : `Did you mean \`${meant}\`?`;
}
