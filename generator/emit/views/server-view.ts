import { Imports } from '../print/imports.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `server.hbs`: the module that serves the application. */
export interface ServerView extends HeaderView {
  /** Import statements, complete. */
  readonly imports: readonly string[];
  /** Local names of the runtime's exports. */
  readonly serve: string;
  readonly serveOptions: string;
  readonly runningServer: string;
  /** Local names of exports of `application.ts`. */
  readonly application: string;
  readonly collaborators: string;
}

/** Builds the view of `server.hbs`. */
export function serverView(file: string, applicationFile: string, sourceFolder: string): ServerView {
  const imports = new Imports(file, ['startServer', 'options', 'Promise']);
  const application = { kind: 'file', file: applicationFile } as const;
  const view = {
    ...headerView(sourceFolder),
    serve: imports.runtimeValue('serve'),
    serveOptions: imports.runtimeType('ServeOptions'),
    runningServer: imports.runtimeType('RunningServer'),
    application: imports.value({ ...application, name: 'application' }),
    collaborators: imports.type({ ...application, name: 'Collaborators' }),
  };
  return { ...view, imports: imports.statements() };
}
