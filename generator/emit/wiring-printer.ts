import { modelNames } from '../schema/model-names.js';
import { camelCase } from '../schema/naming.js';
import { projectIndex } from '../schema/project-index.js';
import type {
  ActionSchema,
  CollaboratorSchema,
  HandlerSchema,
  ModelSchema,
  SuppliedType,
  Wiring,
} from '../schema/project-schema.js';
import type { Emission } from './emission.js';
import { at, type Code, Expression, printCall } from './print/code.js';
import type { Imports } from './print/imports.js';
import { access } from './type-text.js';

/** One property of `Collaborators`. */
export interface CollaboratorView {
  /** With a question mark if every constructor takes it as optional. */
  readonly name: string;
  readonly type: string;
}

/** One repository that `wire` creates. */
export interface RepositoryView {
  /** Local variable. */
  readonly variable: string;
  /** Local name of its class. */
  readonly class: string;
  /** Local name of its model's descriptor. */
  readonly descriptor: string;
}

/** Prints calls of constructors, and collects what their arguments need. */
export class WiringPrinter {
  readonly #emission: Emission;
  readonly #descriptorFile: (model: ModelSchema) => string;
  readonly #imports: Imports;
  readonly #repositories = new Map<string, RepositoryView>();
  /** Local variables of repositories, the same in every function. */
  readonly #variables = new Map<string, string>();
  readonly #used = new Set<string>();

  constructor(emission: Emission, descriptorFile: (model: ModelSchema) => string, imports: Imports) {
    this.#emission = emission;
    this.#descriptorFile = descriptorFile;
    this.#imports = imports;
  }

  /** Local name of a model's descriptor. */
  descriptor(model: ModelSchema): Expression {
    const file = this.#descriptorFile(model);
    return new Expression(this.#imports.value({ kind: 'file', file, name: modelNames(model).descriptor }));
  }

  /** Returns an arrow function that creates an action. */
  action(action: ActionSchema): Code {
    return at(action.location, this.#create(action, { indent: 6, lead: action.name.length + 5 }));
  }

  /** Returns the descriptor of a handler. @param events local names of the descriptors of its events */
  handler(handler: HandlerSchema, events: readonly Expression[]): Code {
    return at(handler.location, {
      name: handler.name,
      events,
      ...handler.options,
      create: this.#create(handler, { indent: 8, lead: 'create: ,'.length }),
    });
  }

  /** Returns the properties of `Collaborators`. */
  collaborators(): readonly CollaboratorView[] {
    const types = new Map<string, string>();
    const required = new Set<string>();
    const { actions, handlers } = this.#emission.schema;
    for (const owner of [...actions, ...handlers]) {
      for (const { name, wiring } of owner.collaborators) {
        if (wiring.kind !== 'supplied') continue;
        if (!wiring.optional) required.add(name);
        if (!types.has(name)) types.set(name, this.#typeText(owner, wiring.type));
      }
    }
    return [...types].map(([name, type]) => ({
      name: required.has(name) ? name : `${name}?`,
      type: required.has(name) ? type : `${type} | undefined`,
    }));
  }

  /** Starts another function: clears what the previous one used. */
  startFunction(): void {
    this.#repositories.clear();
    this.#used.clear();
  }

  /** Repositories that the current function takes. */
  repositories(): readonly RepositoryView[] {
    return [...this.#repositories.values()];
  }

  /** Parameters that the current function uses. */
  parameters(): string {
    const context = ['clock', 'repositories', 'eventHistory', 'placement'].filter((name) =>
      this.#used.has(name),
    );
    const first = context.length === 0 ? '_context' : `{ ${context.join(', ')} }`;
    return this.#used.has('collaborators') ? `${first}, collaborators` : first;
  }

  #create(
    owner: ActionSchema | HandlerSchema,
    place: { readonly indent: number; readonly lead: number },
  ): Expression {
    const args = owner.collaborators.map((collaborator) => this.#argument(collaborator));
    const callee = `() => new ${className(owner, this.#imports)}`;
    return new Expression(printCall(callee, args, place));
  }

  #argument({ name, wiring }: CollaboratorSchema): string {
    switch (wiring.kind) {
      case 'clock':
        return this.#use('clock');
      case 'event-history':
        return this.#use('eventHistory');
      case 'placement':
        return this.#use('placement');
      case 'supplied':
        return access(this.#use('collaborators'), name);
      case 'repository':
      case 'default-repository':
        return this.#repository(wiring);
    }
  }

  #use(name: string): string {
    this.#used.add(name);
    return name;
  }

  #repository({ name, file, kind }: Extract<Wiring, { file: string }>): string {
    this.#use('repositories');
    const key = `${file}#${name}`;
    const known = this.#repositories.get(key);
    if (known !== undefined) return known.variable;
    const index = projectIndex(this.#emission.schema);
    const own = kind === 'repository' ? index.repositories.get(key)?.model.name : undefined;
    const model = own === undefined ? index.modelsByRepository.get(name) : index.models.get(own);
    if (model === undefined) throw new Error(`${name} has no model: the checks let it pass`);
    const view = {
      variable: this.#variableOf(key, name),
      class: this.#imports.value({ kind: 'file', file, name }),
      descriptor: this.descriptor(model).text,
    };
    this.#repositories.set(key, view);
    return view.variable;
  }

  #variableOf(key: string, name: string): string {
    const variable = this.#variables.get(key) ?? this.#imports.reserve(camelCase(name));
    this.#variables.set(key, variable);
    return variable;
  }

  #typeText(owner: ActionSchema | HandlerSchema, type: SuppliedType): string {
    switch (type.kind) {
      case 'named':
        return this.#imports.type(type.reference);
      case 'keyword':
        return type.text;
      case 'parameter':
        return `ConstructorParameters<typeof ${className(owner, this.#imports)}>[${type.index}]`;
    }
  }
}

/** Local name of an action or handler class. */
export function className({ file, className: name }: ActionSchema | HandlerSchema, imports: Imports): string {
  return imports.value({ kind: 'file', file, name });
}
