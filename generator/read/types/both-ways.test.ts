import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ts } from '../compiler.js';
import { listSources } from '../list-files.js';
import { type ReadContext, startContext } from '../read-context.js';
import type { Declaration } from '../resolver.js';
import { SourceFiles } from '../source-files.js';
import { askForDeclared, askForType } from './convert.js';
import { declarationKey } from './objects.js';
import { startReading } from './read-type.js';
import type { Reading } from './reading.js';
import { enclose } from './recursion.js';
import { type ReadType, unsupported } from './type-results.js';

const golden = fileURLToPath(new URL('../../golden', import.meta.url));

test('what is read from the syntax is what the checker says, for each field of the golden cases', () => {
  const differences: string[] = [];
  let compared = 0;
  for (const name of readdirSync(golden)) {
    const project = join(golden, name, 'input');
    if (!existsSync(project)) continue;
    const sources = new SourceFiles(project);
    const paths = { source: '', output: 'generated', migrations: 'migrations' };
    const context = startContext({ sources, paths, files: [], diagnostics: [] });
    for (const file of listSources(project, '', ['generated', 'migrations']).files) {
      const source = sources.load(file);
      for (const node of source === undefined ? [] : typesOfFields(source)) {
        const [written, checked] = [bySyntax(context, node), byChecker(context, node)];
        compared += 1;
        if (written !== checked)
          differences.push(`${name}/${file}: ${node.getText()}\n  ${written}\n  ${checked}`);
      }
    }
  }
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(800);
}, 120_000);

/** Returns the types of fields outside of generic declarations. */
function typesOfFields(source: ts.SourceFile): readonly ts.TypeNode[] {
  const found: ts.TypeNode[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || ('typeParameters' in node && node.typeParameters !== undefined)) return;
    const isField = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
    if (isField && node.type !== undefined) found.push(node.type);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function bySyntax(context: ReadContext, node: ts.TypeNode): string {
  const reading = startReading(context, 'response');
  return inWords(reading.read(reading, node));
}

/** Reads nothing from the syntax but classes. */
function byChecker(context: ReadContext, node: ts.TypeNode): string {
  const written = startReading(context, 'response');
  const read = (reading: Reading, each: ts.TypeNode): ReadType =>
    askForType(reading, each) ?? unsupported(each);
  const readDeclared = (reading: Reading, declaration: Declaration, usage: ts.Node): ReadType => {
    const opening = { key: declarationKey(declaration), name: 'R', node: usage, isClass: false };
    if (ts.isInterfaceDeclaration(declaration) || ts.isEnumDeclaration(declaration))
      return enclose(reading, opening, (inner) => askForDeclared(inner, declaration, usage));
    if (!ts.isTypeAliasDeclaration(declaration)) return written.readDeclared(reading, declaration, usage);
    return enclose(reading, opening, (inner) => read(inner, declaration.type));
  };
  return inWords(read({ ...written, read, readDeclared }, node));
}

const NAMES = new Set([
  ...['name', 'reference', 'description', 'location', 'tags', 'text', 'hint', 'cause', 'brand'],
  // The checker does not know the classes of hosts, such as URL.
  'isNotPlain',
]);

/** The type without names of types, comments and hints. */
function inWords({ type, nullable, optional }: ReadType): string {
  const text = JSON.stringify({ type, nullable, optional }, (key, value: unknown) => {
    if (key === 'fields' && Array.isArray(value))
      return Object.fromEntries(value.map((field) => [field.name, { ...field, name: undefined }]));
    if (key === 'values' && Array.isArray(value)) return [...value].sort();
    return NAMES.has(key) ? undefined : value;
  });
  return text;
}
