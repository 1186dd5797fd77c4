import { join } from 'node:path';
import {
  type InterfaceDeclaration,
  type JSDocableNode,
  Project,
  type PropertySignature,
  type TypeAliasDeclaration,
} from 'ts-morph';
import { expect, test } from 'vitest';
import { ROOT } from './pages.js';

const HEAD = `# Views of templates

What each [template](../templates.md) may name. A view has the members of those that it extends, too. Texts are names, types
and literals of one line. A member without a description is what its name says, or is described with the one above it.
`;

type Declared = InterfaceDeclaration | TypeAliasDeclaration;

const project = new Project({ skipAddingFilesFromTsConfig: true, compilerOptions: { strict: true } });
project.addSourceFilesAtPaths([join(ROOT, 'generator/emit/**/*.ts'), `!${join(ROOT, '**/*.test.ts')}`]);

test('the page of views is made from their types', async () => {
  const views = project
    .getSourceFiles()
    .flatMap((file) => [...file.getInterfaces(), ...file.getTypeAliases()].filter(isView));
  const sections = views.sort((a, b) => (a.getName() < b.getName() ? -1 : 1)).map(sectionOf);
  await expect([HEAD, ...sections].join('\n')).toMatchFileSnapshot('reference/views.md');
});

function isView(declared: Declared): boolean {
  return declared.getName().endsWith('View') && declared.getName() !== 'ScaffoldView';
}

function sectionOf(view: Declared): string {
  const title = `## ${view.getName()}\n\n${commentOf(view)}`;
  if (!('getExtends' in view)) return `${title} The same as \`${view.getTypeNodeOrThrow().getText()}\`.\n`;
  const bases = view.getExtends().map((base) => `[\`${base.getText()}\`](#${base.getText().toLowerCase()})`);
  const extended = bases.length === 0 ? '' : ` Extends ${bases.join(', ')}.`;
  const table = ['| member | type | about |', '|---|---|---|', ...view.getProperties().map(rowOf), ''];
  return [`${title}${extended}`, '', ...table].join('\n');
}

function rowOf(member: PropertySignature): string {
  const type = (member.getTypeNode()?.getText() ?? '').replace('readonly ', '').replaceAll('|', '\\|');
  const [, view] = /^(\w+View)(\[\])?$/.exec(type) ?? [];
  const shown = view === undefined ? `\`${type}\`` : `[\`${type}\`](#${view.toLowerCase()})`;
  return `| \`${member.getName()}\` | ${shown} | ${commentOf(member)} |`;
}

function commentOf(node: JSDocableNode): string {
  const comment = node.getJsDocs().map((doc) => doc.getDescription().trim());
  return comment.join(' ').replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}
