import type { SecurityScheme } from '../access/authenticator.js';

/** Name of the scheme among the document's components. */
const CALLER = 'caller';

/** The API document with what its authenticator asks of callers; as it is for one that asks for nothing. */
export function securedDocument(openApi: object, scheme: SecurityScheme | undefined): object {
  if (scheme === undefined) return openApi;
  const components: unknown = Reflect.get(openApi, 'components');
  return {
    ...openApi,
    security: [{ [CALLER]: [] }],
    components: {
      ...(typeof components === 'object' ? components : {}),
      securitySchemes: { [CALLER]: scheme },
    },
  };
}
