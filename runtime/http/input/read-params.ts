import type { ActionClass } from '../../action/action.js';
import type { ActionDescriptor } from '../../action/action-descriptor.js';
import type { ActionInput } from '../../action/action-input.js';
import type { ActionRegistry } from '../../action/action-registry.js';
import { memoize } from '../../collections/memoize.js';
import { compileInput } from './compile-input.js';
import { parseJsonText } from './json-text.js';
import { invalidParams, type RequestParams } from './request-params.js';

type ParamsOfJson = (text: string, nestingDepth: number) => RequestParams;

/** Reads the text of an object as the body of a request that contains all params of an action. */
export const paramsReader: (action: ActionDescriptor<never, unknown>) => ParamsOfJson = memoize(
  ({ params }) => {
    const check = compileInput(params, 'body');
    return (text, nestingDepth) => {
      const read = Object(parseJsonText(text, nestingDepth)) as RequestParams;
      const problems = check(read);
      if (problems !== undefined) throw invalidParams(problems);
      return read;
    };
  },
);

/**
 * Converts JSON to the params of an action, for routes of another server than that of this package. Decimals and ids are
 * texts in JSON. The tags in the comments of the params apply.
 *
 * @param registry `registry` of the application
 * @param json what `JSON.parse` returns, such as a request's body. It stays as it is
 * @throws an error that lists all mistakes, whose problem (`problemOf`) has the status 400
 */
export function readParams<Params, Result>(
  registry: Pick<ActionRegistry, 'find'>,
  actionClass: ActionClass<Params, Result>,
  json: unknown,
): ActionInput<Params> {
  const read = paramsReader(registry.find(actionClass as ActionClass<never, unknown>));
  // The check has made them what the action's class declares.
  return read(JSON.stringify(json ?? {}), 32) as ActionInput<Params>;
}
