import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ClassDeclaration,
  type InterfaceDeclaration,
  type MethodDeclaration,
  type MethodSignature,
  Node,
  Project,
  type PropertySignature,
} from 'ts-morph';
import { expect, test } from 'vitest';
import { pages, ROOT } from './pages.js';

/** `<!-- members of Client in runtime/client/call.ts: begin -->`; several types are separated by commas. */
const TABLE = /(?<=^<!-- members of ([^\n]+): begin -->\n\n).*?(?=\n<!-- members: end -->$)/gms;

type Member = PropertySignature | MethodSignature | MethodDeclaration;

const project = new Project({ skipAddingFilesFromTsConfig: true, compilerOptions: { strict: true } });
const withTables = pages.filter(({ text }) => text.includes('<!-- members of '));

/** `UPDATE_GOLDEN=1` writes the tables. */
test.each(withTables)('the tables of members in $path are made from their types', ({ path, text }) => {
  expect(text.match(/^<!-- members of /gm)).toHaveLength([...text.matchAll(TABLE)].length);
  const updated = text.replaceAll(TABLE, (_table, types: string) =>
    ['| member | about |', '|---|---|', ...types.split(', ').flatMap(rowsOf), ''].join('\n'),
  );
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(join(ROOT, path), updated);
  expect(readFileSync(join(ROOT, path), 'utf8')).toBe(updated);
});

/** @param type `Client in runtime/client/call.ts`, or `protected Repository in ...` for its protected methods */
function rowsOf(type: string): readonly string[] {
  const [, scope = 'public', name = '', file = ''] = /^(?:(protected) )?(\w+) in (\S+)$/.exec(type) ?? [];
  const source = project.addSourceFileAtPath(join(ROOT, file));
  return membersOf(source.getInterface(name) ?? source.getClassOrThrow(name), scope).flatMap((member) => {
    const about = aboutOf(member);
    return about === '' ? [] : [`| \`${shownName(member)}\` | ${about} |`];
  });
}

function membersOf(declared: InterfaceDeclaration | ClassDeclaration, scope: string): readonly Member[] {
  if (Node.isInterfaceDeclaration(declared)) {
    return declared
      .getMembers()
      .filter((member) => Node.isPropertySignature(member) || Node.isMethodSignature(member));
  }
  const methods = declared.getInstanceMethods().filter((method) => `${method.getScope()}` === scope);
  const named = methods.filter((method) => !method.getName().startsWith('#'));
  return named.map((method) => method.getOverloads()[0] ?? method);
}

/** The member's comment with what it says of parameters; nothing for an internal member. */
function aboutOf(member: Member): string {
  const docs = member.getJsDocs();
  const tags = docs.flatMap((doc) => doc.getTags());
  if (tags.some((tag) => tag.getTagName() === 'internal')) return '';
  const params = tags
    .filter(Node.isJSDocParameterTag)
    .map((tag) => `\`${tag.getName()}\`: ${(tag.getCommentText() ?? '').replace(/\.?$/, '.')}`);
  const text = [...docs.map((doc) => doc.getDescription()), ...params].join(' ');
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}

function shownName(member: Member): string {
  const name = member.getName();
  if (Node.isPropertySignature(member)) return name;
  const params = member.getParameters().map((each) => {
    const prefix = each.isRestParameter() ? '...' : '';
    return `${prefix}${each.getName()}${each.isOptional() && prefix === '' ? '?' : ''}`;
  });
  return `${name}(${params.join(', ')})`;
}
