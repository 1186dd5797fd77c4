import { createHash } from 'node:crypto';
import { type Html, html } from './html.js';
import {
  type ApiView,
  type GroupView,
  type OperationView,
  type ParameterView,
  readOpenApi,
} from './open-api-view.js';
import type { FieldView } from './schema-view.js';
import { DOCS_STYLE } from './style.js';

/** A page that describes an API, rendered once at start. */
export interface DocsPage {
  /** The page with this URL in its examples, as the caller reaches the server. */
  render(baseUrl: string): string;
  /** Value of `Content-Security-Policy`, which allows only the page's own style. */
  readonly contentSecurityPolicy: string;
}

/** Placeholder for the server's URL in the prepared page. */
const BASE_URL = '\u{f8ff}base\u{f8ff}';

/** Renders an OpenAPI 3.1 document as one page without scripts or foreign resources. */
export function docsPage(openApi: object, title?: string): DocsPage {
  const api = readOpenApi(openApi);
  const parts = layout(title === undefined ? api : { ...api, title }).markup.split(BASE_URL);
  const styleHash = createHash('sha256').update(DOCS_STYLE).digest('base64');
  return {
    render: (baseUrl) => parts.join(html`${baseUrl}`.markup),
    contentSecurityPolicy:
      `default-src 'none'; style-src 'sha256-${styleHash}'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  };
}

function layout(api: ApiView): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${api.title} API</title>
<style>${{ markup: DOCS_STYLE }}</style>
</head>
<body>
<div class="layout">
${navigation(api)}
<main>
<header>
<h1>${api.title}</h1>
${api.description !== '' && html`<p>${prose(api.description)}</p>`}
<div class="facts"><span class="chip">${BASE_URL}</span><span class="chip">version ${api.version}</span><a class="chip" href="/openapi.json">openapi.json</a><a class="chip" href="/health/ready">health</a></div>
</header>
${api.credentials.length > 0 && authentication(api)}
${api.groups.map((each) => group(each, api))}
<footer>Errors are problem details (RFC 9457) with a stable <code>code</code>. A click on an example selects all of it.</footer>
</main>
</div>
</body>
</html>
`;
}

function navigation({ title, version, groups }: ApiView): Html {
  return html`<nav aria-label="Operations">
<div class="brand">${title}</div><div class="version">${version}</div>
${groups.map(
  ({ name, operations }) => html`<h2>${name}</h2><ul>
${operations.map(
  ({ id, method, summary }) =>
    html`<li><a href="#${id}"><span class="verb ${method}">${method}</span><span>${withoutStop(summary)}</span></a></li>
`,
)}</ul>
`,
)}</nav>`;
}

function authentication({ credentials }: ApiView): Html {
  const rows = credentials.map(({ name, header, description }) => ({
    ...{ name, type: header ?? '', required: false, description },
  }));
  return html`<section id="authentication">
<h2 class="group">Authentication</h2>
<p class="about">${credentials.length === 1 ? 'A request needs this credential:' : 'A request needs one of these credentials:'}</p>
${list(rows)}
</section>`;
}

function group({ name, operations }: GroupView, api: ApiView): Html {
  return html`<h2 class="group">${name}</h2>
${operations.map((each) => article(each, api))}`;
}

function article(operation: OperationView, { credentials }: ApiView): Html {
  const { id, method, path, summary, description, parameters, body, responses, responseFields } = operation;
  const inputs = parameters.filter(({ place }) => place !== 'header');
  const headers = parameters.filter(({ place }) => place === 'header');
  return html`<article id="${id}">
<section>
<h3><a href="#${id}">${withoutStop(summary)}</a></h3>
<div class="route"><span class="verb ${method}">${method}</span><span>${path}</span></div>
${description !== '' && html`<p class="about">${prose(description)}</p>`}
${fields('Parameters', inputs)}${fields('Body', body)}${fields('Headers', headers)}
<h4>Responses</h4>
<div>${responses.map(
    ({ status, description: text, isSuccess }) =>
      html`<div class="status${isSuccess && ' ok'}"><b>${status === 'default' ? 'else' : status}</b><span>${prose(text)}</span></div>
`,
  )}</div>
${responseFields.length > 0 && html`<details><summary>Response fields</summary>${list(responseFields)}</details>`}
</section>
<aside class="try">
${example('Try it', 'curl', curl(operation, credentials.find(({ header }) => header !== undefined)?.header))}
${operation.responseExample !== undefined && example('Response', operation.responses.find(({ isSuccess }) => isSuccess)?.status ?? '', operation.responseExample)}
</aside>
</article>
`;
}

function fields(title: string, rows: readonly (FieldView | ParameterView)[]): Html | false {
  return (
    rows.length > 0 &&
    html`<h4>${title}</h4>
${list(rows)}`
  );
}

function list(rows: readonly (FieldView | ParameterView)[]): Html {
  return html`<dl>${rows.map(
    (
      row,
    ) => html`<div class="field"><dt><code>${row.name}</code><span class="type">${row.type}${'place' in row && row.place === 'path' && ', in the path'}</span>${row.required && html`<span class="must">required</span>`}</dt>${row.description !== '' && html`<dd>${prose(row.description)}</dd>`}</div>
`,
  )}</dl>`;
}

function example(title: string, label: string, text: string): Html {
  return html`<figure><figcaption><span>${title}</span><span>${label}</span></figcaption><pre class="once" tabindex="0" role="group" aria-label="${title}"><code>${text}</code></pre></figure>`;
}

/** A command that can be pasted into a shell. */
function curl(
  { method, path, parameters, requestExample }: OperationView,
  credential: string | undefined,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) => exampleNamed(parameters, name));
  const query = parameters
    .filter(({ place, required }) => place === 'query' && required)
    .flatMap(({ name, examples }) =>
      examples.map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`),
    )
    .join('&');
  const url = `${BASE_URL}${filled}${query === '' ? '' : `?${query}`}`;
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(url)}`];
  if (credential !== undefined) lines.push(`-H ${quote(credential)}`);
  if (requestExample !== undefined) {
    lines.push("-H 'content-type: application/json'", `-d ${quote(requestExample)}`);
  }
  return lines.join(' \\\n  ');
}

function exampleNamed(parameters: readonly ParameterView[], name: string): string {
  return encodeURIComponent(parameters.find((parameter) => parameter.name === name)?.examples[0] ?? name);
}

/** A word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Text of a comment, with code in backticks. */
function prose(text: string): Html {
  return html`${text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
