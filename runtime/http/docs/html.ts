import { createHash } from 'node:crypto';

/** Markup that is safe to put into a page as it is. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | undefined | false | readonly Part[];

/** Template tag: everything between the markup is escaped, unless it is markup itself. Lists are joined. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { markup: String.raw({ raw: strings }, ...parts.map(render)) };
}

function render(part: Part): string {
  if (part === undefined || part === false) return '';
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Pages with one style sheet, and nothing else that a browser would load. */
export class PageLayout {
  /** Headers of each page. Its policy allows the style by its hash. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #style: string;

  /** @param formAction where the pages may send forms */
  constructor(style: string, formAction: "'none'" | "'self'") {
    const hash = createHash('sha256').update(style).digest('base64');
    this.headers = {
      'content-security-policy':
        `default-src 'none'; style-src 'sha256-${hash}'; ` +
        `base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
      'content-type': 'text/html; charset=utf-8',
    };
    this.#style = style;
  }

  page(title: string, body: Html): Html {
    return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ markup: this.#style }}</style>
</head>
<body>
${body}
</body>
</html>
`;
  }
}
