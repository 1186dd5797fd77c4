import type { FieldType } from '../descriptor.js';
import type { Compiling } from './field-kind.js';
import { jsonKindOf } from './kinds.js';

/** Compiles a type in its context. */
type Compile<Compiled> = (type: FieldType, compiling: Compiling<Compiled>) => Compiled;

/**
 * The context of a type. @param open compiled forms of references to the recursive types around it. Default none
 */
export function compilingOf<Compiled>(
  compile: Compile<Compiled>,
  name: string,
  open: ReadonlyMap<string, Compiled> = new Map(),
): Compiling<Compiled> {
  return {
    name,
    jsonKindOf,
    part: (type, inner = name) => compile(type, compilingOf(compile, inner, open)),
    recursive: (type, again) =>
      compile(type.of, compilingOf(compile, name, new Map([...open, [type.name, again]]))),
    again: (type) => open.get(type),
  };
}
