import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as morph from 'ts-morph';
import { requireCompiled } from '../compiled-code.js';

/** The TypeScript compiler that ts-morph includes, never the user's. */
export const ts: typeof morph.ts = loadCompiler();

/**
 * Loads the compiler with `require`. An import is slower: Node.js first searches a CommonJS module for the names of its
 * exports, which for a compiler takes as long as running it. The built program caches the compiled code.
 */
function loadCompiler(): typeof morph.ts {
  const require = createRequire(import.meta.url);
  const common = createRequire(require.resolve('ts-morph')).resolve('@ts-morph/common');
  const compiler = join(dirname(common), 'typescript.js');
  const isBuilt = existsSync(fileURLToPath(new URL('../bundle', import.meta.url)));
  return isBuilt
    ? requireCompiled(compiler, fileURLToPath(new URL('../compiled', import.meta.url)))
    : require(compiler);
}

/** The types of the compiler that the reader uses. */
export declare namespace ts {
  export type ArrayLiteralExpression = morph.ts.ArrayLiteralExpression;
  export type BindingName = morph.ts.BindingName;
  export type CallExpression = morph.ts.CallExpression;
  export type ClassDeclaration = morph.ts.ClassDeclaration;
  export type ClassElement = morph.ts.ClassElement;
  export type ClassLikeDeclaration = morph.ts.ClassLikeDeclaration;
  export type ConditionalTypeNode = morph.ts.ConditionalTypeNode;
  export type ConstructorDeclaration = morph.ts.ConstructorDeclaration;
  export type Decorator = morph.ts.Decorator;
  export type DiagnosticWithLocation = morph.ts.DiagnosticWithLocation;
  export type EnumDeclaration = morph.ts.EnumDeclaration;
  export type ExportDeclaration = morph.ts.ExportDeclaration;
  export type Expression = morph.ts.Expression;
  export type ExpressionWithTypeArguments = morph.ts.ExpressionWithTypeArguments;
  export type GetAccessorDeclaration = morph.ts.GetAccessorDeclaration;
  export type Identifier = morph.ts.Identifier;
  export type ImportDeclaration = morph.ts.ImportDeclaration;
  export type ImportTypeNode = morph.ts.ImportTypeNode;
  export type IndexedAccessTypeNode = morph.ts.IndexedAccessTypeNode;
  export type InterfaceDeclaration = morph.ts.InterfaceDeclaration;
  export type IntersectionTypeNode = morph.ts.IntersectionTypeNode;
  export type IterationStatement = morph.ts.IterationStatement;
  export type MappedTypeNode = morph.ts.MappedTypeNode;
  export type MethodDeclaration = morph.ts.MethodDeclaration;
  export type ModifierLike = morph.ts.ModifierLike;
  export type Node = morph.ts.Node;
  export type ObjectLiteralExpression = morph.ts.ObjectLiteralExpression;
  export type ParameterDeclaration = morph.ts.ParameterDeclaration;
  export type PropertyAccessExpression = morph.ts.PropertyAccessExpression;
  export type PropertyDeclaration = morph.ts.PropertyDeclaration;
  export type PropertySignature = morph.ts.PropertySignature;
  export type SignatureDeclaration = morph.ts.SignatureDeclaration;
  export type SourceFile = morph.ts.SourceFile;
  export type Statement = morph.ts.Statement;
  export type SyntaxKind = morph.ts.SyntaxKind;
  export type TemplateLiteralTypeNode = morph.ts.TemplateLiteralTypeNode;
  export type TextRange = morph.ts.TextRange;
  export type TupleTypeNode = morph.ts.TupleTypeNode;
  export type TypeAliasDeclaration = morph.ts.TypeAliasDeclaration;
  export type TypeElement = morph.ts.TypeElement;
  export type TypeLiteralNode = morph.ts.TypeLiteralNode;
  export type TypeNode = morph.ts.TypeNode;
  export type TypeParameterDeclaration = morph.ts.TypeParameterDeclaration;
  export type TypeQueryNode = morph.ts.TypeQueryNode;
  export type TypeReferenceNode = morph.ts.TypeReferenceNode;
  export type VariableDeclaration = morph.ts.VariableDeclaration;
  export type VariableDeclarationList = morph.ts.VariableDeclarationList;
}
