import type { Upcaster } from '../domain/descriptor.js';
import type { JsonObject } from '../domain/json.js';
import { compileObjectReader } from '../domain/json-codec.js';
import { requireStoredName } from '../domain/stored-names.js';
import { requireUpcasters, upcast, type Versioned } from '../domain/upcast.js';
import { UnknownActionError, ValidationError } from '../errors.js';
import type { ActionClass } from './action.js';
import type { ActionDescriptor } from './action-descriptor.js';
import type { ActionInput } from './action-input.js';

/** All actions of an application, by class. Emitted code creates one; without the generator, pass the descriptors. */
export class ActionRegistry {
  readonly #byClass = new Map<ActionClass<never, unknown>, ActionDescriptor>();
  readonly #byName = new Map<string, ActionDescriptor>();
  readonly #upcasters = new Map<string, readonly Upcaster[]>();
  /** Default params by the stable name of their action. */
  readonly #defaults = new Map<string, () => Readonly<Record<string, unknown>>>();

  /** @throws ValidationError if a class or name is registered twice, or if a name or upcasters are missing */
  constructor(actions: Iterable<ActionDescriptor> = []) {
    for (const action of actions) this.#register(action);
  }

  /** @throws UnknownActionError if the class is not registered */
  find<Params, Result>(actionClass: ActionClass<Params, Result>): ActionDescriptor<Params, Result> {
    const action = this.#byClass.get(actionClass as unknown as ActionClass<never, unknown>);
    if (action === undefined) {
      throw new UnknownActionError(
        `${actionClass.name} is not in the ActionRegistry; mark it with @FwAction and run fw-gen generate`,
      );
    }
    return action as unknown as ActionDescriptor<Params, Result>;
  }

  /** The params for `perform`: absent ones with a `@default` take its value. */
  complete<Params, Result>({ name }: ActionDescriptor<Params, Result>, params: ActionInput<Params>): Params {
    const defaults = this.#defaults.size === 0 ? undefined : this.#defaults.get(name);
    // The type parameter cannot express which params were absent.
    if (defaults === undefined) return params as Params;
    const given = Object.entries(params as object).filter(([, value]) => value !== undefined);
    return { ...defaults(), ...Object.fromEntries(given) } as Params;
  }

  /** The action with this stable name, if any. */
  named(name: string): ActionDescriptor | undefined {
    return this.#byName.get(name);
  }

  /** All registered actions. */
  all(): readonly ActionDescriptor[] {
    return [...this.#byName.values()];
  }

  /** Params versions of all actions, by stable name. */
  paramsVersions(): ReadonlyMap<string, number> {
    return new Map([...this.#byName].map(([name, { version = 1 }]) => [name, version]));
  }

  /** True for stored params of a version that this process does not know yet; a newer process must run them. */
  isTooNew(name: string, version: number): boolean {
    return version > (this.#byName.get(name)?.version ?? 1);
  }

  /**
   * Stored params, upcast to the version that this process knows.
   *
   * @throws ValidationError if an upcaster throws
   */
  upcastParams(name: string, stored: { readonly version: number; readonly params: JsonObject }): JsonObject {
    const action = this.#byName.get(name);
    if (action === undefined) return stored.params;
    const { version, params: payload } = stored;
    return upcast(versionedParams(action), this.#upcasters.get(name) ?? [], { version, payload });
  }

  #register(action: ActionDescriptor): void {
    requireStoredName(action.name, action.actionClass);
    if (this.#byClass.has(action.actionClass) || this.#byName.has(action.name)) {
      throw new ValidationError(`Action ${action.name} is registered twice`);
    }
    this.#byClass.set(action.actionClass, action);
    this.#byName.set(action.name, action);
    const fields = action.params.filter((field) => field.default !== undefined);
    if (fields.length > 0) {
      const values = Object.fromEntries(fields.map((field) => [field.name, field.default ?? null]));
      const read = compileObjectReader(fields);
      const shared = read(values);
      // An action may change a list, an object or a date: each execution gets its own.
      const isShared = fields.every(
        ({ type, default: value }) => typeof value !== 'object' && type.kind !== 'instant',
      );
      this.#defaults.set(action.name, isShared ? () => shared : () => read(structuredClone(values)));
    }
    const upcasters = requireUpcasters(versionedParams(action), () => action.actionClass);
    if ((action.version ?? 1) > 1) this.#upcasters.set(action.name, upcasters);
  }
}

/** The params of an action, with their name in messages. */
function versionedParams(action: ActionDescriptor): Versioned {
  return { ...action, name: `the params of ${action.name}` };
}
