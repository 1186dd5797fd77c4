import { suggest } from '../../runtime/config/suggest.js';
import { type Diagnostic, diagnostic, formatLocation } from '../diagnostics.js';
import type { ProjectSchema } from '../schema/project-schema.js';
import { pathParameters, pathShape } from '../schema/route-path.js';
import { type FieldSchema, isScalar } from '../schema/type-schema.js';
import { checkHeaders, type RoutedAction } from './check-headers.js';
import { repeated } from './check-names.js';

/** Paths that every server serves itself. */
const OWN_PATHS: readonly string[] = ['/health/live', '/health/ready', '/openapi.json', '/docs', '/metrics'];

/** Rules of routes: paths, places of parameters, and headers from response fields. */
export function checkRoutes(schema: ProjectSchema): readonly Diagnostic[] {
  const actions = routedActions(schema);
  return [
    ...actions.flatMap(checkPath),
    ...checkUnique(actions),
    ...actions.flatMap(checkPathParameters),
    ...actions.flatMap(checkQuery),
    ...actions.flatMap(checkHeaders),
  ];
}

/** Routes whose actions carry no `@Allow`: every caller may run them, or none with `fw.access.default: deny`. */
export function routesWithoutRule(schema: ProjectSchema): readonly Diagnostic[] {
  return routedActions(schema).flatMap(({ className, rule, route: { method, path, location } }) => {
    if (rule !== undefined) return [];
    const message = `${method} ${path} has no rule: fw.access.default decides who may run ${className}`;
    const hint = 'Add @Allow with a rule, or @Allow(everyone) if every caller may run it.';
    return diagnostic('FWGEN060', location, message, hint);
  });
}

/** A route commits on one shard: no idempotency key could cover several commits. */
export function routesOverShards(schema: ProjectSchema): readonly Diagnostic[] {
  return routedActions(schema).flatMap(({ className, isCrossShard, route: { method, path, location } }) => {
    if (isCrossShard !== true) return [];
    const message = `${method} ${path} cannot run ${className} over several shards: it answers FW_CROSS_SHARD`;
    const hint =
      'Write a saga, or a route of your own that calls execute of `application.executor` with allowCrossShard(true).';
    return diagnostic('FWGEN072', location, message, hint);
  });
}

function routedActions({ actions }: ProjectSchema): readonly RoutedAction[] {
  return actions.filter((action): action is RoutedAction => action.route !== undefined);
}

const SEGMENT = /^(\{[A-Za-z_]\w*\}|[\w.~-]+)$/;

function checkPath({ route }: RoutedAction): readonly Diagnostic[] {
  const segments = route.path.split('/').slice(1);
  const names = pathParameters(route.path);
  const isWellFormed =
    route.path === '/' || (route.path.startsWith('/') && segments.every((segment) => SEGMENT.test(segment)));
  if (!isWellFormed || new Set(names).size < names.length) {
    const hint =
      'Start the path with a slash. Each segment is plain text or one parameter in braces: /wallets/{walletId}.';
    const message = `${JSON.stringify(route.path)} is not a valid route path`;
    return [diagnostic('FWGEN023', route.location, message, hint)];
  }
  if (route.method !== 'GET' || !OWN_PATHS.includes(route.path)) return [];
  const message = `GET ${route.path} is a built-in route of every server`;
  return [diagnostic('FWGEN022', route.location, message, 'Choose another path.')];
}

function checkUnique(actions: readonly RoutedAction[]): readonly Diagnostic[] {
  const same = repeated(actions, ({ route }) => `${route.method} ${pathShape(route.path)}`);
  // A router and the API document treat paths that differ only in parameter names as one path.
  const respelled = repeated(actions, ({ route }) => pathShape(route.path)).filter(
    ([first, second]) => first.route.path !== second.route.path && first.route.method !== second.route.method,
  );
  return [...same, ...respelled].map(([{ className, route: first }, action]) => {
    const { method, path, location } = action.route;
    const message = `${method} ${path} conflicts with ${first.method} ${first.path} of ${className} at ${formatLocation(first.location)}`;
    const hint = same.some(([, each]) => each === action)
      ? 'Change one of the paths or methods.'
      : 'Use the same parameter names in a path for all methods.';
    return diagnostic('FWGEN022', location, message, hint);
  });
}

function checkPathParameters(action: RoutedAction): readonly Diagnostic[] {
  return pathParameters(action.route.path).flatMap((name) => {
    const field = action.params.find((param) => param.name === name);
    const problem =
      field === undefined
        ? `is not a parameter of ${action.className}`
        : field.optional || field.nullable
          ? 'may be absent or null'
          : !isScalar(field.type) && field.type.kind !== 'unsupported'
            ? `has the type ${field.type.kind}, which a path cannot contain`
            : undefined;
    if (problem === undefined) return [];
    const hint = field === undefined ? unknownParameterHint(action, name) : parameterForm(name);
    const { path, location } = action.route;
    return diagnostic('FWGEN024', location, `{${name}} in ${path} ${problem}`, hint);
  });
}

function parameterForm(name: string): string {
  const key = /^[\w$]+$/.test(name) ? name : `'${name}'`;
  return `Declare a required parameter of a simple type: \`readonly ${key}: Uuid;\`.`;
}

/** Suggests the parameter that was probably meant: a similar one, or the only one that fits. */
function unknownParameterHint({ route: { method, path }, params }: RoutedAction, name: string): string {
  const inPath = pathParameters(path);
  const fitting = params
    .filter(({ type, optional, nullable }) => !optional && !nullable && isScalar(type))
    .map((param) => param.name)
    .filter((param) => !inPath.includes(param) && /^[A-Za-z_]\w*$/.test(param));
  const meant = suggest(name, fitting) ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (meant === undefined) return parameterForm(name);
  const meantPath = path.replace(`{${name}}`, `{${meant}}`);
  return `Did you mean {${meant}}? Write \`@HttpRoute('${method}', '${meantPath}')\`.`;
}

function checkQuery(action: RoutedAction): readonly Diagnostic[] {
  const { method, path } = action.route;
  if (method !== 'GET' && method !== 'DELETE') return [];
  const inPath = pathParameters(path);
  return action.params.flatMap(({ name, type, nullable, location }) => {
    if (inPath.includes(name) || type.kind === 'unsupported' || (fitsQuery(type) && !nullable)) return [];
    const message = `${name} cannot be sent in the query string of ${method} ${path}`;
    const hint = `Use a simple type that is not nullable (\`readonly ${name}?: string;\`), a list of such a type (\`readonly ${name}: readonly string[];\`), or a method with a body (\`@HttpRoute('POST', '${path}')\`).`;
    return diagnostic('FWGEN025', location, message, hint);
  });
}

/** A list is sent as one parameter per item: `?tag=a&tag=b`. */
function fitsQuery(type: FieldSchema['type']): boolean {
  return type.kind === 'list' ? isScalar(type.of) : isScalar(type);
}
