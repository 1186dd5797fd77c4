import { ts } from '../compiler.js';
import { extendsFramework, type Heritage, readHeritage } from '../heritage.js';
import { bindArguments, type Reading, type Scope, type ScopedNode } from './reading.js';

/** A class with the types of its type parameters. */
export interface ScopedClass {
  readonly node: ts.ClassDeclaration;
  readonly scope: Scope;
}

/** A class and its base classes in this project. */
export interface Lineage {
  /** The class itself first. */
  readonly classes: readonly [ScopedClass, ...ScopedClass[]];
  /** What the class itself extends. */
  readonly heritage: Heritage | undefined;
  /** What the last class extends: a class of this package, or an unknown one. */
  readonly root: Heritage | undefined;
  /** Type arguments of the root. */
  readonly arguments: readonly ScopedNode[];
}

/** Follows `extends` through classes of this project. A cycle ends where it closes. */
export function followLineage(reading: Reading, node: ts.ClassDeclaration): Lineage {
  const heritage = readHeritage(reading.context, node);
  const classes: [ScopedClass, ...ScopedClass[]] = [{ node, scope: reading.scope }];
  let root = heritage;
  for (let last: ScopedClass = classes[0]; ; ) {
    const given = root?.typeArguments ?? [];
    const { scope } = last;
    const base = root?.resolved.kind === 'declared' ? root.resolved.declaration : undefined;
    const isNext =
      base !== undefined && ts.isClassDeclaration(base) && !classes.some((each) => isSame(each, base));
    if (!isNext) return { classes, heritage, root, arguments: given.map((each) => ({ node: each, scope })) };
    last = { node: base, scope: bindArguments({ ...reading, scope }, base.typeParameters, given) };
    classes.push(last);
    root = readHeritage(reading.context, base);
  }
}

/** By position, because a tree may be parsed again between two reads. */
function isSame({ node }: ScopedClass, other: ts.ClassDeclaration): boolean {
  return node.pos === other.pos && node.getSourceFile().fileName === other.getSourceFile().fileName;
}

/** Whether the root is a class of this package with one of these names. */
export function leadsTo(lineage: Lineage, ...names: readonly string[]): boolean {
  return extendsFramework(lineage.root, ...names);
}
