import { type Html, html, PageLayout } from '../docs/html.js';

const STYLE = `:root{color-scheme:light dark}
body{margin:2rem;font:16px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
table{border-collapse:collapse;width:100%;margin-bottom:2rem}
caption,th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0}
caption{font-weight:bold}
th,td{border-top:1px solid}
pre{font:.85rem ui-monospace,Menlo,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere;margin:0}`;

const LAYOUT = new PageLayout(STYLE, "'self'");

/** Headers of each page. */
export const PAGE_HEADERS: PageLayout['headers'] = LAYOUT.headers;

/** The title and the content of a page. */
export interface OperatorPage {
  readonly title: string;
  readonly content: Html;
}

export function renderPage({ title, content }: OperatorPage): string {
  return LAYOUT.page(
    title,
    html`<main>
<h1>${title}</h1>
${content}
</main>`,
  ).markup;
}

/** Columns by their heads. The first one names its row. */
export type Columns<T> = Readonly<Record<string, (row: T) => Html | string | number | undefined>>;

/** A table, or its caption and "none". */
export function tableOf<T>(caption: string, rows: readonly T[], columns: Columns<T>): Html {
  if (rows.length === 0) return html`<p>${caption} None.</p>`;
  const [first = () => '', ...others] = Object.values(columns);
  return html`<table>
<caption>${caption}</caption>
<thead><tr>${Object.keys(columns).map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows.map(
  (row) =>
    html`<tr><th scope="row">${first(row)}</th>${others.map((column) => html`<td>${column(row)}</td>`)}</tr>
`,
)}</tbody>
</table>
`;
}
