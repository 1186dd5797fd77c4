import { expect, test } from 'vitest';
import { Renderer } from './render.js';
import { TemplateError } from './user-template.js';

const VIEW = {
  headerPrefix: '// ',
  header: 'Made',
  name: 'thing',
  fields: [{ column: 'a' }, { column: 'b' }],
  states: ['NEW', 'OLD'],
  flag: true,
  imports: [],
};

const SYNTAX = { code: 'FWGEN042', hint: 'Correct the template.' };
const MISSING = { code: 'FWGEN043', hint: 'docs/reference/views.md lists the names of each view.' };

function render(texts: Readonly<Record<string, string>>): string {
  const user = Object.entries(texts).map(([path, text]) => [path, { file: `t/${path}.hbs`, text }] as const);
  return new Renderer(new Map(user)).render('server', VIEW);
}

function mistakeOf(texts: Readonly<Record<string, string>>): unknown {
  try {
    return render(texts);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return error.diagnostic;
  }
}

const x = 't/server.hbs';

test.each([
  ['{{#if}}x{{/if}}', '#if requires exactly one argument'],
  ['{{#with}}x{{/with}}', '#with requires exactly one argument'],
  ['{{#unless}}x{{/unless}}', '#unless requires exactly one argument'],
])('%s is a mistake of its template', (text, message) => {
  const location = { file: x };
  expect(mistakeOf({ server: text })).toMatchObject({
    ...SYNTAX,
    location,
    message: `The template fails: ${message}`,
  });
});

test.each(['{{#each}}x{{/each}}', '{{lookup}}', '{{if flag}}'])('%s is a mistake too', (text) => {
  expect(mistakeOf({ server: text })).toMatchObject({ ...SYNTAX, location: { file: x } });
});

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
});

test.each(['{{#> layout}}b{{/layout}}', '{{#*inline "nav"}}n{{/inline}}', '{{~#> layout}}{{/layout}}'])(
  '%s is refused',
  (text) => {
    expect(mistakeOf({ server: `a\n${text}` })).toMatchObject({
      code: 'FWGEN042',
      location: { file: x, line: 2 },
      message: expect.stringMatching(/ is not supported$/),
      hint: 'Write a file in partials, and call it with {{> name}}.',
    });
  },
);

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
