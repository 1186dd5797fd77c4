import type { TypeOf } from './kinds/field-kind.js';
import { jsonKindOf } from './kinds/kinds.js';
import { type Chooser, chooserOf as chooser } from './kinds/union-members.js';

export { type Chooser, tagsOf } from './kinds/union-members.js';

/**
 * @param parts the compiled form of each member, in their order
 * @param plain converts another representation of a number to the number. Default: numbers are numbers
 */
export function chooserOf<Part>(
  type: TypeOf<'union'>,
  parts: readonly Part[],
  plain?: (value: unknown) => unknown,
): Chooser<Part> {
  return chooser(type, parts, jsonKindOf, plain);
}
