import { createHash } from 'node:crypto';
import { type Html, html } from './html.js';
import { JsonView } from './json-view.js';
import { exampleOf, type FieldView, fieldsOf, typeText } from './schema-view.js';
import { DOCS_STYLE } from './style.js';

/** A page that describes an API, rendered once at start. */
export interface DocsPage {
  /** The page with this URL in its examples, as the caller reaches the server. */
  render(baseUrl: string): string;
  /** Value of `Content-Security-Policy`, which allows only the page's own style. */
  readonly contentSecurityPolicy: string;
}

/** An operation of the document. */
interface Operation {
  /** Anchor of the page. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly group: string;
  readonly node: JsonView;
}

/** One way to authenticate. */
interface Credential extends FieldView {
  /** The header that carries it. Empty: it is not in a header. */
  readonly type: string;
}

/** Placeholder for the server's URL in the prepared page. */
const BASE_URL = '\u{f8ff}base\u{f8ff}';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * Renders an OpenAPI 3.1 document as one page without scripts or foreign resources. Leaves out missing or unsupported
 * parts, so that a page with the rest can be shown.
 */
export function docsPage(openApi: object, title?: string): DocsPage {
  const root = new JsonView(openApi);
  const parts = layout(root, title ?? root.at('info').text('title')).markup.split(BASE_URL);
  const styleHash = createHash('sha256').update(DOCS_STYLE).digest('base64');
  return {
    render: (baseUrl) => parts.join(html`${baseUrl}`.markup),
    contentSecurityPolicy:
      `default-src 'none'; style-src 'sha256-${styleHash}'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  };
}

function layout(root: JsonView, title: string): Html {
  const [info, operations] = [root.at('info'), operationsOf(root)];
  const [version, description, credentials] = [
    info.text('version'),
    info.text('description'),
    credentialsOf(root),
  ];
  const groups = groupNames(root, operations).map(
    (name) => [name, operations.filter(({ group }) => group === name)] as const,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title>
<style>${{ markup: DOCS_STYLE }}</style>
</head>
<body>
<div class="layout">
<nav aria-label="Operations">
<div class="brand">${title}</div><div class="version">${version}</div>
${groups.map(
  ([name, members]) => html`<h2>${name}</h2><ul>
${members.map(
  ({ id, method, summary }) =>
    html`<li><a href="#${id}"><span class="verb ${method}">${method}</span><span>${summary}</span></a></li>
`,
)}</ul>
`,
)}</nav>
<main>
<header>
<h1>${title}</h1>
${description !== '' && html`<p>${prose(description)}</p>`}
<div class="facts"><span class="chip">${BASE_URL}</span><span class="chip">version ${version}</span><a class="chip" href="/openapi.json">openapi.json</a><a class="chip" href="/health/ready">health</a></div>
</header>
${credentials.length > 0 && authentication(credentials)}
${groups.map(
  ([name, members]) => html`<h2 class="group">${name}</h2>
${members.map((each) => article(each, credentials))}`,
)}
<footer>Errors are problem details (RFC 9457) with a stable <code>code</code>. A click on an example selects all of it.</footer>
</main>
</div>
</body>
</html>
`;
}

function operationsOf(root: JsonView): readonly Operation[] {
  return root
    .at('paths')
    .entries()
    .flatMap(([path, item]) =>
      METHODS.filter((method) => item.at(method).exists).map((method) => {
        const node = item.at(method);
        const operationId = node.text('operationId');
        return {
          ...{ node, path, method: method.toUpperCase() },
          id: operationId || `${method}-${path}`.replace(/\W+/g, '-'),
          summary: (node.text('summary') || operationId).replace(/\.$/, ''),
          group: node.at('tags').items()[0]?.text() ?? 'Operations',
        };
      }),
    );
}

/** Groups in the order of the document's tags, then others. */
function groupNames(root: JsonView, operations: readonly Operation[]): readonly string[] {
  const used = new Set(operations.map(({ group }) => group));
  const tags = root.at('tags').items();
  return [...new Set([...tags.map((tag) => tag.text('name')), ...used])].filter((name) => used.has(name));
}

function credentialsOf(root: JsonView): readonly Credential[] {
  return root
    .at('components')
    .at('securitySchemes')
    .entries()
    .map(([name, scheme]) => {
      const kind = scheme.text('type');
      const isBearer = ['oauth2', 'openIdConnect'].includes(kind) || scheme.text('scheme') === 'bearer';
      const isHeader = kind === 'apiKey' && scheme.text('in') === 'header';
      const certificate = kind === 'mutualTLS' ? 'A client certificate of the connection.' : '';
      const key = isHeader ? `${scheme.text('name')}: YOUR_KEY` : '';
      return {
        ...{ name, required: false, description: scheme.text('description') || certificate },
        type: isBearer ? 'Authorization: Bearer YOUR_TOKEN' : key,
      };
    });
}

function authentication(credentials: readonly Credential[]): Html {
  const needed = credentials.length === 1 ? 'this credential' : 'one of these credentials';
  return html`<section id="authentication">
<h2 class="group">Authentication</h2>
<p class="about">A request needs ${needed}:</p>
${list(credentials)}
</section>`;
}

function article(operation: Operation, credentials: readonly Credential[]): Html {
  const { id, method, path, summary, node } = operation;
  const description = node.text('description');
  const parameters = node
    .at('parameters')
    .items()
    .map((each) => each.resolved());
  const rows = (isHeader: boolean): readonly FieldView[] =>
    parameters.filter((each) => (each.text('in') === 'header') === isHeader).map(parameterRow);
  const responses = node.at('responses').entries();
  const [status, success] = responses.find(([each]) => each.startsWith('2')) ?? ['', undefined];
  const content = success === undefined ? undefined : jsonOf(success);
  const results = content === undefined ? [] : fieldsOf(content.at('schema'));
  const result = content === undefined ? undefined : exampleText(content);
  return html`<article id="${id}">
<section>
<h3><a href="#${id}">${summary}</a></h3>
<div class="route"><span class="verb ${method}">${method}</span><span>${path}</span></div>
${description.replace(/\.$/, '') !== summary && description !== '' && html`<p class="about">${prose(description)}</p>`}
${fields('Parameters', rows(false))}${fields('Body', fieldsOf(jsonOf(node.at('requestBody')).at('schema')))}${fields('Headers', rows(true))}
<h4>Responses</h4>
<div>${responses.map(
    ([each, response]) =>
      html`<div class="status${each.startsWith('2') && ' ok'}"><b>${each === 'default' ? 'else' : each}</b><span>${prose(response.resolved().text('description'))}</span></div>
`,
  )}</div>
${results.length > 0 && html`<details><summary>Response fields</summary>${list(results)}</details>`}
</section>
<aside class="try">
${example('Try it', 'curl', curl(operation, parameters, credentials.find(({ type }) => type !== '')?.type))}
${result !== undefined && example('Response', status, result)}
</aside>
</article>
`;
}

function jsonOf(content: JsonView): JsonView {
  return content.resolved().at('content').at('application/json');
}

function parameterRow(parameter: JsonView): FieldView {
  const schema = parameter.at('schema').resolved();
  return {
    name: parameter.text('name'),
    type: typeText(schema) + (parameter.text('in') === 'path' ? ', in the path' : ''),
    required: parameter.at('required').value === true,
    description: parameter.text('description') || schema.text('description'),
  };
}

function exampleText(content: JsonView): string | undefined {
  if (!content.exists) return undefined;
  const example = content.at('example');
  return JSON.stringify(example.exists ? example.value : exampleOf(content.at('schema')), null, 2);
}

function fields(title: string, rows: readonly FieldView[]): Html | false {
  return (
    rows.length > 0 &&
    html`<h4>${title}</h4>
${list(rows)}`
  );
}

function list(rows: readonly FieldView[]): Html {
  return html`<dl>${rows.map(
    ({ name, type, required, description }) =>
      html`<div class="field"><dt><code>${name}</code><span class="type">${type}</span>${required && html`<span class="must">required</span>`}</dt>${description !== '' && html`<dd>${prose(description)}</dd>`}</div>
`,
  )}</dl>`;
}

function example(title: string, label: string, text: string): Html {
  return html`<figure><figcaption><span>${title}</span><span>${label}</span></figcaption><pre class="once" tabindex="0" role="group" aria-label="${title}"><code>${text}</code></pre></figure>`;
}

/** A command that can be pasted into a shell. */
function curl(
  { method, path, node }: Operation,
  parameters: readonly JsonView[],
  credential: string | undefined,
): string {
  const examples = (parameter: JsonView | undefined): readonly string[] =>
    parameter === undefined ? [] : [exampleOf(parameter.at('schema'))].flat().map(String);
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(examples(parameters.find((each) => each.text('name') === name))[0] ?? name),
  );
  const query = parameters
    .filter((each) => each.text('in') === 'query' && each.at('required').value === true)
    .flatMap((each) =>
      examples(each).map((value) => `${encodeURIComponent(each.text('name'))}=${encodeURIComponent(value)}`),
    );
  const url = `${BASE_URL}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(url)}`];
  if (credential !== undefined) lines.push(`-H ${quote(credential)}`);
  const body = exampleText(jsonOf(node.at('requestBody')));
  if (body !== undefined) lines.push("-H 'content-type: application/json'", `-d ${quote(body)}`);
  return lines.join(' \\\n  ');
}

/** A word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Text of a comment, with code in backticks. */
function prose(text: string): Html {
  return html`${text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}
