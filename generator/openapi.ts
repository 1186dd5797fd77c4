import type { AccessConfig, FwConfig } from '../runtime/config/index.js';
import { type JsonPart, openApiDocument } from '../runtime/openapi/document.js';
import { documentText } from '../runtime/openapi/document-text.js';
import { documentedAccess, OPEN_ACCESS } from '../runtime/openapi/documented-access.js';
import type { ProjectFolders } from './check/check-folders.js';
import type { Diagnostic } from './diagnostics.js';
import { documentedRoutes } from './emit/routes.js';
import { readSchema } from './read-schema.js';

/** Options of a description, with absolute paths. */
export interface DescribeOptions extends ProjectFolders {
  /** Default: `API`. */
  readonly title?: string;
  /** Default: `1.0.0`. */
  readonly version?: string;
  /** `fw.access` of the configuration. Default: no requirements for callers. */
  readonly access?: AccessConfig;
  /** `fw.http` of the configuration. Default: the document has neither contact nor license. */
  readonly http?: Pick<FwConfig['http'], 'contact' | 'license'>;
}

/** The OpenAPI document of a project and its indented text, or the mistakes in its sources. */
export type Described =
  | { readonly document: JsonPart; readonly text: string }
  | { readonly diagnostics: readonly Diagnostic[] };

/**
 * Creates the OpenAPI document of a project from its sources, with the same function as the server. Runs no user code.
 * Requirements for callers in a server's code are unknown here.
 */
export async function describeApi(options: DescribeOptions): Promise<Described> {
  const { schema, diagnostics } = readSchema(options);
  if (schema === undefined) return { diagnostics };
  const { title = 'API', version = '1.0.0', access, http } = options;
  const routes = documentedRoutes(schema);
  const document = openApiDocument(
    routes,
    { title, version, contact: http?.contact, license: http?.license },
    access === undefined ? OPEN_ACCESS : documentedAccess(access),
  );
  return { document, text: documentText(document, 2) };
}
