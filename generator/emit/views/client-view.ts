import type { ClientFiles, ClientFunctionView } from '../client/client-functions.js';
import { ClientFunctions } from '../client/client-functions.js';
import type { ReaderView } from '../client/client-readers.js';
import type { DeclaredType } from '../client/client-types.js';
import type { Emission } from '../emission.js';
import { Imports } from '../print/imports.js';
import { quote } from '../print/strings.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `client.hbs`: routes as functions, for programs that call the service. */
export interface ClientView extends HeaderView {
  /** Import statements, complete. */
  readonly imports: readonly string[];
  /** Specifiers of the modules that the functions call, quoted. */
  readonly runtime: string;
  readonly stream: string;
  /** True if a route has a feed. */
  readonly hasStreams: boolean;
  readonly types: readonly DeclaredType[];
  /** Local name of the type of readers, or ''. */
  readonly reader: string;
  readonly readers: readonly ReaderView[];
  readonly functions: readonly ClientFunctionView[];
}

/** Names that the template uses. */
const TAKEN: readonly string[] = [
  'client',
  'params',
  'options',
  'page',
  'value',
  'undefined',
  'AsyncGenerator',
  'Date',
  'Pick',
  'Promise',
  'Readonly',
  'ReadonlyArray',
  'Record',
];

/** @param folder project-relative */
export function clientFiles(folder: string): ClientFiles {
  const file = (name: string): string => `${folder}/${name}.ts`;
  return { client: file('client'), runtime: file('client-runtime'), stream: file('client-stream') };
}

/** Builds the view of `client.hbs`. */
export function clientView(emission: Emission, files: ClientFiles, sourceFolder: string): ClientView {
  const imports = new Imports(files.client, TAKEN);
  const printer = new ClientFunctions(emission, imports, files);
  const functions = emission.schema.actions.flatMap((action) =>
    action.route === undefined ? [] : printer.of(action, action.route),
  );
  const { types, readers } = printer;
  return {
    ...headerView(sourceFolder),
    runtime: quote(imports.specifier(files.runtime)),
    stream: quote(imports.specifier(files.stream)),
    hasStreams: printer.hasStreams,
    types: types.declared,
    reader: readers.views.length === 0 ? '' : readers.type,
    readers: readers.views,
    functions,
    imports: imports.statements(),
  };
}

/** View of `client-part.hbs`: a file that is the same in every client. */
export interface ClientPartView extends HeaderView {
  /** The file below its header. */
  readonly text: string;
}
