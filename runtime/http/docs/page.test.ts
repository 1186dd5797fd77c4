import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { walletOpenApi } from '../test-support/wallet-open-api.js';
import { DOCS_HEADERS, docsPage } from './page.js';
import { DOCS_STYLE } from './style.js';

/** As WCAG 2.2 defines it, of `#rgb` or `#rrggbb`. */
function luminance(colour: string): number {
  const digits =
    colour.length === 4
      ? [...colour.slice(1)].map((digit) => digit + digit)
      : (colour.slice(1).match(/../g) ?? []);
  const [red = 0, green = 0, blue = 0] = digits
    .map((digit) => Number.parseInt(digit, 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const page = docsPage(walletOpenApi);
const text = page('http://localhost:8080');

describe('the docs page', () => {
  it('names no resource that a browser would load', () => {
    expect(text).not.toMatch(
      /<(?:script|link|img|iframe|object|embed|base|form)\b|src=|@import|url\(|style="/i,
    );
  });

  it('allows its own style by its hash and nothing else', () => {
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(DOCS_HEADERS['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
    expect(DOCS_HEADERS['content-security-policy']).toContain("default-src 'none'");
  });

  it('lists every operation with its fields, limits and answers', () => {
    expect(text.match(/<article/g)).toHaveLength(3);
    expect(text).toContain('id="WalletDepositMoneyAction"');
    expect(text).toContain('integer, 1 to 200, default 50');
    expect(text).toContain('items[].balance');
    expect(text).toContain('The request is invalid.');
  });

  it('shows commands that can be pasted into a shell', () => {
    const command = text.replaceAll('&#39;', "'").replaceAll('&#34;', '"');
    expect(command).toContain(
      "curl -X POST 'http://localhost:8080/wallets/01942f5e-7c00-7a3b-8040-5d0e9c6b1f27/deposit'",
    );
    expect(command).toContain(`O'\\''Brien`);
    expect(command).toContain("curl 'http://localhost:8080/wallets?ownerId=6f3f6d58");
  });

  it('shows a list in a query as one parameter per item', () => {
    const parameter = {
      name: 'tag',
      in: 'query',
      required: true,
      schema: { type: 'array', items: { type: 'string' }, examples: [['red', 'blue & green']] },
    };
    const operation = { operationId: 'Find', parameters: [parameter], responses: {} };
    const document = { paths: { '/n': { get: operation } } };
    const shown = docsPage(document)('http://localhost').replaceAll('&#39;', "'").replaceAll('&#38;', '&');
    expect(shown).toContain('list of string');
    expect(shown).toContain("curl 'http://localhost/n?tag=red&tag=blue%20%26%20green'");
  });

  it('shows what stands in backticks as code', () => {
    expect(text).toContain('<code>next</code> of the page before.');
  });

  it.each(['light', 'dark'])('has text of a contrast of 4.5 and more in %s mode', (mode) => {
    const [light = '', dark = ''] = [...DOCS_STYLE.matchAll(/:root\{([^}]*)\}/g)].map(([, rules]) => rules);
    const colours = new Map(
      [...`${light};${mode === 'dark' ? dark : ''}`.matchAll(/--([\w-]+):\s*(#[0-9a-f]+)/g)].map(
        ([, name, value]) => [name ?? '', value ?? ''],
      ),
    );
    const contrast = (text: string, ground: string): number => {
      const [a = 0, b = 0] = [text, ground].map((name) => luminance(colours.get(name) ?? ''));
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    };
    const onPage = ['ink', 'soft', 'accent', 'get', 'post', 'put', 'delete'].flatMap((text) =>
      ['bg', 'panel', 'line'].map((ground) => [text, ground] as const),
    );
    for (const [text, ground] of [...onPage, ['code-ink', 'code-bg'], ['code-soft', 'code-bg']] as const)
      expect(contrast(text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  });

  it('lets the keyboard reach what scrolls', () => {
    const blocks = text.match(/<pre[^>]*>/g) ?? [];
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.filter((block) => !/tabindex="0" role="group" aria-label="[^"]+"/.test(block))).toEqual([]);
  });

  it('shows how to authenticate, in words and in each command', () => {
    const securitySchemes = {
      token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'Made by `keys create`.' },
      clientCertificate: { type: 'mutualTLS' },
    };
    const shown = docsPage({ paths: { '/a': { get: {} } }, components: { securitySchemes } })(
      'http://a',
    ).replaceAll('&#39;', "'");
    expect(shown).toContain('<h2 class="group">Authentication</h2>');
    expect(shown).toContain('X-Api-Key: YOUR_KEY');
    expect(shown).toContain('A client certificate of the connection.');
    expect(shown).toContain("-H 'Authorization: Bearer YOUR_TOKEN'");
    expect(text).not.toContain('Authentication');
  });

  it('escapes texts of the document and the caller', () => {
    expect(text).toContain('Other wallets &#60;are&#62; not touched.');
    expect(page('http://<script>')).not.toContain('<script>');
  });

  it('makes a page of a document without operations', () => {
    expect(docsPage({}, 'Odd')('http://a')).toContain('<h1>Odd</h1>');
  });

  it('shows the first values of long lists, and other answers by a short word', () => {
    const values = Array.from({ length: 20 }, (_, at) => `V${at}`);
    const schema = { type: 'object', properties: { code: { type: 'string', enum: values } } };
    const content = { 'application/json': { schema } };
    const responses = { 200: { content }, default: { description: 'All others.' } };
    const shown = docsPage({ paths: { '/codes': { get: { responses } } } })('http://a');
    expect(shown).toContain('&#34;V0&#34; | &#34;V1&#34; | &#34;V2&#34; | ... (20 values)');
    expect(shown).toContain('<b>else</b>');
  });

  it('ends where a schema contains itself', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } };
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } };
    const document = {
      paths: { '/nodes': { post: { requestBody: { content }, responses: { 200: { content } } } } },
      components: { schemas: { Node: node, Loop: { $ref: '#/components/schemas/Loop' } } },
    };
    expect(docsPage(document)('http://a')).toContain('next.next');
  });
});
