import type { Emission } from '../emission.js';
import { type ApiInfo, openApiDocument } from '../openapi/document.js';
import { LINE_WIDTH } from '../print/code.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `openapi.hbs`. */
export interface OpenApiView extends HeaderView {
  /** Printed literal of the document. */
  readonly document: string;
}

/** Decides everything that `openapi.hbs` writes. */
export function openApiView(emission: Emission, info: ApiInfo, sourceFolder: string): OpenApiView {
  const document = openApiDocument(emission.routes, info, emission.isSharded, emission.part);
  return { ...headerView(sourceFolder), document: emission.print(document, 0, LINE_WIDTH) };
}
