export function renderDocs(_openApi: object, title: string): { readonly html: string; readonly styleHash: string } {
  return { html: title, styleHash: 'sha256-' };
}
