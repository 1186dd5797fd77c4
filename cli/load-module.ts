import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ApplicationDefinition } from '../runtime/operations.js';
import { InputError } from './input-error.js';

/** An export of a module of the user. @throws InputError if the module cannot be loaded, or does not have it */
export async function exportOf(module: string, name: string): Promise<unknown> {
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = (await import(pathToFileURL(resolve(module)).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new InputError(`Cannot load ${module}: ${String(error)}`);
  }
  if (exported[name] !== undefined) return exported[name];
  throw new InputError(`${module} has no export ${name}.`);
}

/** The application that a compiled `generated/application.js` exports. @throws InputError if it is none */
export async function applicationOf(module: string): Promise<ApplicationDefinition<unknown>> {
  const application = await exportOf(module, 'application');
  if (typeof application === 'object' && application !== null && 'codegenVersion' in application)
    // Emitted code, whose type the compiler has checked.
    return application as ApplicationDefinition<unknown>;
  throw new InputError(`${module} exports no application. Pass the compiled generated/application.js.`);
}
