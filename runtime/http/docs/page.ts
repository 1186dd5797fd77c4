import { type Html, html, PageLayout } from './html.js';
import { exampleOf, type FieldRow, fieldsOf, type Resolve, type Schema, typeText } from './schema-text.js';
import { DOCS_STYLE } from './style.js';

const LAYOUT = new PageLayout(DOCS_STYLE, "'none'");

/** The parts of the OpenAPI document that the page shows. */
interface Document {
  readonly info?: { readonly title?: string; readonly version?: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly securitySchemes?: Readonly<Record<string, Scheme>> };
}

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Message;
  readonly responses?: Readonly<Record<string, Message>>;
}

interface Parameter extends Schema {
  readonly name?: string;
  readonly in?: string;
  readonly schema?: Schema;
}

interface Message extends Schema {
  readonly content?: Readonly<Record<string, Content>>;
}

type Content = { readonly schema?: Schema; readonly example?: unknown };

type Scheme = Readonly<Record<'type' | 'scheme' | 'in' | 'name' | 'description', string | undefined>>;

/** Placeholder for the server's URL in the prepared page. */
const BASE_URL = '\u{f8ff}base\u{f8ff}';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Headers of the page. */
export const DOCS_HEADERS: PageLayout['headers'] = LAYOUT.headers;

/**
 * Renders an OpenAPI 3.1 document as one page without scripts or foreign resources, once at start.
 *
 * @returns the page with a URL in its examples: that by which the caller reaches the server
 */
export function docsPage(openApi: object, title?: string): (baseUrl: string) => string {
  const shownTitle = title ?? (openApi as Document).info?.title ?? 'API';
  const { markup } = LAYOUT.page(`${shownTitle} API`, content(openApi, shownTitle));
  return (baseUrl) => markup.replaceAll(BASE_URL, () => html`${baseUrl}`.markup);
}

function content(root: Document, title: string): Html {
  const { info: { version, description } = {}, tags = [], paths = {} } = root;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) =>
      item[method] === undefined ? [] : [shown(root, path, method, item[method])],
    ),
  );
  const credentials = Object.entries(root.components?.securitySchemes ?? {}).map(credentialRow);
  const names = new Set([...tags.map(({ name }) => name), ...operations.map(({ group }) => group)]);
  const groups = [...names].map((name) => [name, operations.filter(({ group }) => group === name)] as const);
  return html`<nav aria-label="Operations">
${groups.map(
  ([name, members]) => html`<h2>${name}</h2><ul>
${members.map(
  ({ id, method, summary }) =>
    html`<li><a href="#${id}"><span class="verb ${method}">${method}</span> ${summary}</a></li>
`,
)}</ul>
`,
)}</nav>
<main>
<header>
<h1>${title}</h1>
${description !== undefined && html`<p>${prose(description)}</p>`}
<p>${BASE_URL}, version ${version}, <a href="/openapi.json">openapi.json</a>, <a href="/health/ready">health</a></p>
</header>
${credentials.length > 0 && authentication(credentials)}
${groups.map(
  ([name, members]) => html`<h2 class="group">${name}</h2>
${members.map((each) => article(each, credentials.find(({ type }) => type !== '')?.type))}`,
)}
<footer>Errors are problem details (RFC 9457) with a stable <code>code</code>. A click on an example selects all of it.</footer>
</main>`;
}

/** An operation with what is shown of it. */
interface Shown {
  /** Anchor of the page. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly group: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
  readonly resolve: Resolve;
}

function shown(root: Document, path: string, method: string, operation: Operation): Shown {
  const { operationId = `${method}-${path}`.replace(/\W+/g, '-'), summary = operationId, tags } = operation;
  const resolve: Resolve = (schema = {}) => (schema.$ref === undefined ? schema : target(root, schema.$ref));
  return {
    ...{ path, operation, resolve, method: method.toUpperCase(), id: operationId },
    summary: summary.replace(/\.$/, ''),
    group: tags?.[0] ?? 'Operations',
    parameters: (operation.parameters ?? []).map(resolve),
  };
}

/** The part of the document that a reference names: `#/components/schemas/Wallet`. */
function target(root: object, reference: string): Schema {
  const keys = reference.slice(2).split('/');
  return keys.reduce<Schema>((part, key) => (part[key] ?? {}) as Schema, root as Schema);
}

/** A way to authenticate, with the header that carries the credential; empty if it is not in a header. */
function credentialRow([name, scheme]: readonly [string, Scheme]): FieldRow {
  const { type = '', description } = scheme;
  const isBearer = ['oauth2', 'openIdConnect'].includes(type) || scheme.scheme === 'bearer';
  const key = type === 'apiKey' && scheme.in === 'header' ? `${scheme.name}: YOUR_KEY` : '';
  const certificate = type === 'mutualTLS' ? 'A client certificate of the connection.' : undefined;
  return {
    ...{ name, required: false, description: description ?? certificate },
    type: isBearer ? 'Authorization: Bearer YOUR_TOKEN' : key,
  };
}

function authentication(credentials: readonly FieldRow[]): Html {
  const needed = credentials.length === 1 ? 'this credential' : 'one of these credentials';
  return html`<section id="authentication">
<h2 class="group">Authentication</h2>
<p>A request needs ${needed}:</p>
${list(credentials)}
</section>`;
}

function article(each: Shown, credential: string | undefined): Html {
  const { id, method, path, summary, operation, parameters, resolve } = each;
  const { description = '', requestBody, responses = {} } = operation;
  const rows = (isHeader: boolean): readonly FieldRow[] =>
    parameters.filter((one) => (one.in === 'header') === isHeader).map((one) => parameterRow(one, resolve));
  const [status, success] = Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  const result = contentOf(success);
  const results = fieldsOf(resolve, result?.schema);
  return html`<article id="${id}">
<section>
<h3><a href="#${id}">${summary}</a></h3>
<p class="route"><span class="verb ${method}">${method}</span> ${path}</p>
${description !== '' && description.replace(/\.$/, '') !== summary && html`<p class="about">${prose(description)}</p>`}
${fields('Parameters', rows(false))}${fields('Body', fieldsOf(resolve, contentOf(requestBody)?.schema))}${fields('Headers', rows(true))}
<h4>Responses</h4>
<dl>${Object.entries(responses).map(
    ([code, response]) =>
      html`<div><dt><b>${code === 'default' ? 'else' : code}</b></dt><dd>${prose(resolve(response).description ?? '')}</dd></div>
`,
  )}</dl>
${results.length > 0 && html`<details><summary>Response fields</summary>${list(results)}</details>`}
</section>
<section>
${figure('Try it', 'curl', curl(each, credential))}
${result !== undefined && figure('Response', status, JSON.stringify(exampleIn(resolve, result), null, 2))}
</section>
</article>
`;
}

function contentOf(message: Message | undefined): Content | undefined {
  return message?.content?.['application/json'];
}

function exampleIn(resolve: Resolve, content: Content): unknown {
  return content.example ?? exampleOf(resolve, content.schema);
}

function parameterRow(
  { name = '', in: place, schema, required, description }: Parameter,
  resolve: Resolve,
): FieldRow {
  return {
    ...{ name, required: required !== undefined && Boolean(required) },
    type: typeText(resolve, schema) + (place === 'path' ? ', in the path' : ''),
    description: description ?? resolve(schema).description,
  };
}

function fields(title: string, rows: readonly FieldRow[]): Html | false {
  return rows.length > 0 && html`<h4>${title}</h4>${list(rows)}`;
}

function list(rows: readonly FieldRow[]): Html {
  return html`<dl>${rows.map(
    ({ name, type, required, description }) =>
      html`<div><dt><code>${name}</code> <span class="type">${type}</span>${required && html` <span class="must">required</span>`}</dt>${description !== undefined && html`<dd>${prose(description)}</dd>`}</div>
`,
  )}</dl>`;
}

function figure(title: string, label: string | undefined, text: string): Html {
  return html`<figure><figcaption>${title}: ${label}</figcaption><pre tabindex="0" role="group" aria-label="${title}"><code>${text}</code></pre></figure>`;
}

/** A command that can be pasted into a shell. */
function curl(
  { method, path, operation, parameters, resolve }: Shown,
  credential: string | undefined,
): string {
  const examples = (parameter: Parameter): readonly string[] =>
    [exampleOf(resolve, parameter.schema)].flat().map((value) => encodeURIComponent(String(value)));
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const parameter = parameters.find((each) => each.name === name);
    return (parameter && examples(parameter)[0]) ?? name;
  });
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && Boolean(required))
    .flatMap((each) => examples(each).map((value) => `${encodeURIComponent(each.name ?? '')}=${value}`));
  const url = `${BASE_URL}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(url)}`];
  if (credential !== undefined) lines.push(`-H ${quote(credential)}`);
  const body = contentOf(operation.requestBody);
  if (body !== undefined)
    lines.push(
      "-H 'content-type: application/json'",
      `-d ${quote(JSON.stringify(exampleIn(resolve, body), null, 2))}`,
    );
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
