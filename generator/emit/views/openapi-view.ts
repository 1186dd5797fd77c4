import type { ProjectSchema } from '../../schema/project-schema.js';
import { shardedModels } from '../field-type.js';
import { openApiDocument } from '../openapi/document.js';
import { LINE_WIDTH, printCode } from '../print/code.js';
import { routedActions } from '../routes.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `openapi.hbs`. */
export interface OpenApiView extends HeaderView {
  /** Printed literal of the document. */
  readonly document: string;
}

/** Decides everything that `openapi.hbs` writes. */
export function openApiView(schema: ProjectSchema, title: string, sourceFolder: string): OpenApiView {
  const document = openApiDocument(routedActions(schema), title, shardedModels(schema.models));
  return { ...headerView(sourceFolder), document: printCode(document, 0, LINE_WIDTH) };
}
