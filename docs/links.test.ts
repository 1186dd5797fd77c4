import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectFiles } from '../cli/init/project-files.js';
import { type DocumentationPage, pages, ROOT } from './pages.js';

const SCRIPTS = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly scripts: object }).scripts,
);

describe.each(pages)('$path', (page) => {
  test('links to pages, files and headings that exist', () => {
    expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });

  test('names only files of the repository that exist', () => {
    const named = [...page.text.matchAll(/`((?:runtime|generator|cli|bench|test)\/[\w./-]+\.[a-z]+)`/g)];
    expect(named.map(([, file = '']) => file).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const named = [...page.text.matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, script = '']) => script);
    const known = [...SCRIPTS, ...benchScripts(), ...newProjectScripts()];
    expect(named.filter((script) => !known.includes(script))).toEqual([]);
  });
});

test('every page of docs/ is listed in docs/README.md', () => {
  const index = pages.find(({ path }) => path === 'docs/README.md');
  const listed = index === undefined ? [] : linksOf(index).map((link) => `docs/${link.split('#')[0]}`);
  const topLevel = pages.map(({ path }) => path).filter((path) => /^docs\/[^/]+\.md$/.test(path));
  expect(topLevel.filter((path) => path !== 'docs/README.md' && !listed.includes(path))).toEqual([]);
});

/** Targets of relative links, code aside. */
function linksOf({ text }: DocumentationPage): readonly string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`(?!\])/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere(page: DocumentationPage, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const path = file === '' ? page.path : normalize(join(dirname(page.path), file));
  if (!existsSync(join(ROOT, path))) return false;
  // The package has no sources, so links to them would lead nowhere there.
  if (page.path.startsWith('docs/') && /^(?:runtime|generator|cli|bench|test)\//.test(path)) return false;
  if (anchor === undefined || !path.endsWith('.md')) return true;
  const headings = readFileSync(join(ROOT, path), 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) => anchorOf(heading)).includes(anchor);
}

/** As repository hosts make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function benchScripts(): readonly string[] {
  const file = readFileSync(join(ROOT, 'bench', 'package.json'), 'utf8');
  return Object.keys((JSON.parse(file) as { readonly scripts: object }).scripts);
}

/** Scripts of what `fw-gen init` makes. */
function newProjectScripts(): readonly string[] {
  const project = { name: 'new', frameworkRange: '*', token: '', databasePassword: '' };
  const file = projectFiles(project).get('package.json') ?? '{}';
  return Object.keys((JSON.parse(file) as { readonly scripts: object }).scripts);
}
