import { expect, test } from 'vitest';
import { Renderer } from './render.js';
import { TemplateError } from './template-error.js';

const VIEW = {
  headerPrefix: '// ',
  header: 'Made',
  name: 'thing',
  fields: [{ column: 'a' }, { column: 'b' }],
  states: ['NEW', 'OLD'],
  flag: true,
  imports: [],
};

const SYNTAX = { kind: 'syntax', hint: 'Correct the template.' };
const MISSING = { kind: 'missing', hint: 'docs/reference/views.md lists the names of each view.' };

function render(texts: Readonly<Record<string, string>>): string {
  const user = Object.entries(texts).map(([path, text]) => [path, { file: `t/${path}.hbs`, text }] as const);
  return new Renderer(new Map(user)).render('server', VIEW);
}

function mistakeOf(texts: Readonly<Record<string, string>>): unknown {
  try {
    return render(texts);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { kind, location, message, hint } = error;
    return { kind, location, message, hint };
  }
}

const x = 't/server.hbs';

test.each([
  ['{{#if}}x{{/if}}', '{{#if}} with 0 values: expected {{#if}} with 1', 1],
  ['{{#each}}x{{/each}}', '{{#each}} with 0 values: expected {{#each}} with 1', 1],
  ['{{#with}}x{{/with}}', '{{#with}} with 0 values: expected {{#with}} with 1', 1],
  ['{{#unless}}x{{/unless}}', '{{#unless}} with 0 values: expected {{#unless}} with 1', 1],
  ['  {{lookup}}', '{{lookup}} with 0 values: expected {{lookup}} with 2', 3],
  ['{{if flag}}', '{{if}} with 1 values: expected {{#if}} with 1', 1],
  [
    '{{#if flag}}{{#each states name}}{{/each}}{{/if}}',
    '{{#each}} with 2 values: expected {{#each}} with 1',
    13,
  ],
  ['{{#if (lookup fields)}}x{{/if}}', '{{lookup}} with 1 values: expected {{lookup}} with 2', 7],
])('%s is reported with its position', (text, message, column) => {
  const location = { file: x, line: 2, column };
  expect(mistakeOf({ server: `\n${text}` })).toEqual({ ...SYNTAX, location, message });
});

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
  '%s is not a name of a view',
  (name) => {
    const missing = (text: string, place: object): void =>
      expect(mistakeOf({ server: text })).toEqual({
        ...MISSING,
        location: { file: x, ...place },
        message: `The template uses ${JSON.stringify(name)}, which is not in its view ServerView`,
      });
    missing(`{{${name}}}`, { line: 1, column: 3 });
    missing(`{{fields.${name}}}`, { line: 1, column: 3 });
    missing(`{{#each fields}}{{${name}}}{{/each}}`, { line: 1, column: 19 });
    expect(render({ server: `{{#if ${name}}}x{{/if}}` })).toBe('');
    missing(`{{#each states}}{{${name}}}{{/each}}`, {});
  },
);

test('a mistake in a nested partial is reported with the file of the partial', () => {
  const texts = {
    server: '{{> outer}}',
    'partials/outer': 'a\n{{#each fields}}{{> inner note="b"}}{{/each}}',
    'partials/inner': '\n\n {{colour}}',
  };
  expect(mistakeOf(texts)).toEqual({
    ...MISSING,
    location: { file: 't/partials/inner.hbs', line: 3, column: 4 },
    message: 'The template uses "colour", which is not in its view ServerView',
  });
  expect(mistakeOf({ ...texts, 'partials/inner': '{{constructor}}' })).toMatchObject({
    location: { file: 't/partials/inner.hbs', line: 1 },
  });
});

test('a mistake in a block or inline partial is reported with the file of the template', () => {
  const layout = {
    'partials/layout': '\n\n<{{> @partial-block}}{{> nav}}>',
    'partials/box': '[{{> @partial-block}}]',
  };
  const inline = (nav: string, block: string): string =>
    `{{#> layout}}{{#*inline "nav"}}${nav}{{/inline}}${block}{{/layout}}`;
  const location = { file: x, line: 1 };
  expect(render({ server: inline('n', '{{#> box}}{{name}}{{/box}}'), ...layout })).toBe('\n\n<[thing]n>');
  for (const text of [
    inline('n', '{{colour}}'),
    inline('{{colour}}', 'b'),
    inline('n', '{{#> box}}{{colour}}{{/box}}'),
  ]) {
    expect(mistakeOf({ server: text, ...layout })).toMatchObject({ ...MISSING, location });
  }
  expect(mistakeOf({ server: '{{#> layout}}b{{/layout}}', ...layout })).toMatchObject({
    location: { file: 't/partials/layout.hbs' },
  });
});

test('a wrong view for a partial of this package is a mistake of the calling template', () => {
  expect(mistakeOf({ server: '{{#each fields}}{{> header}}{{/each}}' })).toEqual({
    ...MISSING,
    location: { file: x },
    message: 'The partial header uses "headerPrefix", which is not in its view ServerView',
  });
});

test('a missing or unclosed partial is a mistake of its template', () => {
  expect(mistakeOf({ server: '{{> nowhere}}' })).toMatchObject({ ...MISSING, location: { file: x } });
  expect(mistakeOf({ server: '{{> again}}', 'partials/again': '{{> again}}' })).toMatchObject({
    ...SYNTAX,
    location: { file: 't/partials/again.hbs' },
    message: 'The template fails: Maximum call stack size exceeded',
  });
});

test('names of the view are rendered', () => {
  const text =
    '{{> header}}|{{name}}{{#each fields}}{{@index}}{{column}}{{../name}}{{/each}}{{fields.length}}{{states}}' +
    '{{#with fields.[0]}}{{column}}{{/with}}{{lookup states 1}}{{#unless flag}}no{{else if flag}}yes{{/unless}}' +
    '{{fields}}{{> own flag=false}}';
  expect(render({ server: text, 'partials/own': '{{#if flag}}on{{else}}off{{/if}}' })).toBe(
    '// Made. Do not edit: change the source and run `fw-gen generate`.\n|thing0athing1bthing2NEW,OLDaOLDyes[object Object],[object Object]off',
  );
});
