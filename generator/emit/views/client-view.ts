import type { ReaderView } from '../client/client-readers.js';
import { ClientRoutes, type ClientRouteView } from '../client/client-routes.js';
import type { ClientTypeView } from '../client/client-types.js';
import type { Emission } from '../emission.js';
import { CLIENT, FileScope, type ImportView } from '../file-scope.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `client.hbs`: routes as functions, for programs that call the service. */
export interface ClientView extends HeaderView {
  readonly imports: readonly ImportView[];
  readonly types: readonly ClientTypeView[];
  readonly readers: readonly ReaderView[];
  readonly routes: readonly ClientRouteView[];
}

/** Names that the template uses. */
const TAKEN =
  'client params options page value undefined AsyncGenerator Date Pick Promise Readonly ReadonlyArray Record';

/** Builds the view of `client.hbs`. */
export function clientView(emission: Emission, file: string): ClientView {
  const scope = new FileScope(emission, file, TAKEN.split(' '), CLIENT);
  const client = new ClientRoutes(scope);
  const routes = emission.schema.actions.flatMap((action) =>
    action.route === undefined ? [] : [client.of(action, action.route)],
  );
  return {
    ...headerView(emission.paths.source),
    types: client.types.declared,
    readers: client.readers.views,
    routes,
    imports: scope.statements(),
  };
}
