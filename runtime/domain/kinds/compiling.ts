import type { FieldType } from '../descriptor.js';
import { chooserOf } from '../union-type.js';
import type { Compiling } from './field-kind.js';

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
  const part = (type: FieldType, inner = name): Compiled => compile(type, compilingOf(compile, inner, open));
  return {
    name,
    part,
    chooser: (type) => chooserOf(type, (member) => part(member)),
    recursive: (type, again) =>
      compile(type.of, compilingOf(compile, name, new Map([...open, [type.name, again]]))),
    again: (type) => open.get(type),
  };
}
