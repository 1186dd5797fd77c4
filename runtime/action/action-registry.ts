import { UnknownActionError, ValidationError } from '../errors.js';
import type { ActionClass } from './action.js';
import type { ActionDescriptor } from './action-descriptor.js';

/** All actions of an application, by class. Emitted code makes one; by hand, pass the descriptors. */
export class ActionRegistry {
  readonly #byClass = new Map<ActionClass<never, unknown>, ActionDescriptor>();
  readonly #byName = new Map<string, ActionDescriptor>();

  /** @throws ValidationError if a class or name is registered twice */
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

  /** The action with this stable name, if any. */
  named(name: string): ActionDescriptor | undefined {
    return this.#byName.get(name);
  }

  /** All registered actions. */
  all(): readonly ActionDescriptor[] {
    return [...this.#byName.values()];
  }

  #register(action: ActionDescriptor): void {
    if (this.#byClass.has(action.actionClass) || this.#byName.has(action.name)) {
      throw new ValidationError(`Action ${action.name} is registered twice`);
    }
    this.#byClass.set(action.actionClass, action);
    this.#byName.set(action.name, action);
  }
}
