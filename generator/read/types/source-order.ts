import { compareText } from '../../diagnostics.js';
import { ts } from '../compiler.js';

/** The key of a type that a keyword names: `string`. */
export function keywordKey(keyword: string): string {
  return `keyword ${keyword}`;
}

/** The declarations of what a name means, also where that is imported. */
export function declarationsOf(checker: ts.TypeChecker, name: ts.Node): readonly ts.Declaration[] {
  const symbol = checker.getSymbolAtLocation(name);
  const isImported = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
  return (isImported ? checker.getAliasedSymbol(symbol) : symbol)?.declarations ?? [];
}

/** Maximum number of nodes that determine an order. */
const MOST_NODES = 20_000;

/**
 * The order in which a type and what it refers to mention literals, names and declarations. The checker orders the
 * members of a union by when it first met them, which depends on unrelated types.
 */
export class SourceOrder {
  readonly #checker: ts.TypeChecker;
  readonly #node: ts.Node;
  readonly #ranks = new Map<unknown, number>();
  readonly #visited = new Set<ts.Node>();
  #left = MOST_NODES;

  /** @param node what the source says where the type is used */
  constructor(checker: ts.TypeChecker, node: ts.Node) {
    this.#checker = checker;
    this.#node = node;
  }

  /** Sorts values by their ranks. Values without one come last, sorted by their texts. */
  sort<T>(values: readonly T[], keyOf: (value: T) => unknown, textOf: (value: T) => string): readonly T[] {
    if (values.length < 2) return values;
    this.#visit(this.#node);
    return values
      .map((value) => ({ value, rank: this.#ranks.get(keyOf(value)) ?? MOST_NODES, text: textOf(value) }))
      .sort((one, other) => one.rank - other.rank || compareText(one.text, other.text))
      .map(({ value }) => value);
  }

  #rank(key: unknown): void {
    if (!this.#ranks.has(key)) this.#ranks.set(key, this.#ranks.size);
  }

  #visit(node: ts.Node): void {
    this.#left -= 1;
    if (this.#left < 0 || this.#visited.has(node) || ts.isBlock(node)) return;
    this.#visited.add(node);
    this.#rank(node);
    if (ts.isStringLiteralLike(node)) this.#rank(node.text);
    else if (ts.isNumericLiteral(node)) this.#rank(Number(node.text));
    else if (ts.isIdentifier(node)) this.#visitName(node);
    else this.#rank(keywordKey(ts.tokenToString(node.kind) ?? ''));
    // Inherited members come first; each member comes before what the types of other members refer to.
    if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node))
      for (const clause of node.heritageClauses ?? []) this.#visit(clause);
    if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node))
      for (const member of node.members) this.#rank(member);
    ts.forEachChild(node, (child) => this.#visit(child));
  }

  #visitName(node: ts.Identifier): void {
    const { parent } = node;
    const isMember = ts.isPropertyDeclaration(parent) || ts.isPropertySignature(parent);
    if ((isMember || ts.isPropertyAssignment(parent) || ts.isEnumMember(parent)) && parent.name === node) {
      this.#rank(node.text);
      return;
    }
    // The other declarations of a name follow the members of the first.
    const isDeclared = 'name' in parent && parent.name === node;
    for (const declaration of isDeclared ? [] : declarationsOf(this.#checker, node)) {
      // Utility types of the language mention nothing.
      if (!declaration.getSourceFile().hasNoDefaultLib) this.#visit(declaration);
    }
  }
}
