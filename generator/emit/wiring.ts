import { modelNames } from '../schema/model-names.js';
import { camelCase } from '../schema/naming.js';
import { projectIndex } from '../schema/project-index.js';
import type {
  ActionSchema,
  CollaboratorSchema,
  HandlerSchema,
  ModelSchema,
  Wiring,
} from '../schema/project-schema.js';
import type { Emission } from './emission.js';
import type { FileScope } from './file-scope.js';
import { access } from './type-text.js';

/** View of `partials/repository.hbs`: one repository that a function of the wiring creates. */
export interface RepositoryView {
  /** Local variable. */
  readonly variable: string;
  /** Local name of its class. */
  readonly class: string;
  /** Local name of its model's descriptor. */
  readonly descriptor: string;
}

/** A call of a constructor. */
export interface ConstructionView {
  /** Local name of the class. */
  readonly class: string;
  /** Arguments, without the parentheses. */
  readonly args: string;
}

/** The calls of constructors in one function, and what their arguments need. */
export class FunctionWiring {
  readonly #scope: FileScope;
  readonly #repositories = new Map<string, RepositoryView>();
  readonly #used = new Set<string>();

  constructor(scope: FileScope) {
    this.#scope = scope;
  }

  /** Returns the call that creates an action or handler. */
  construction(owner: ActionSchema | HandlerSchema): ConstructionView {
    const { file, className: name } = owner;
    return {
      class: this.#scope.value({ kind: 'file', file, name }),
      args: owner.collaborators.map((collaborator) => this.#argument(collaborator)).join(', '),
    };
  }

  /** Repositories that the function creates. */
  get repositories(): readonly RepositoryView[] {
    return [...this.#repositories.values()];
  }

  /** Parameters that the function uses. */
  get parameters(): string {
    const context = ['clock', 'repositories', 'eventHistory', 'placement'].filter((name) =>
      this.#used.has(name),
    );
    const first = context.length === 0 ? '_context' : `{ ${context.join(', ')} }`;
    return this.#used.has('collaborators') ? `${first}, collaborators` : first;
  }

  #argument({ name, wiring }: CollaboratorSchema): string {
    switch (wiring.kind) {
      case 'clock':
      case 'placement':
        return this.#use(wiring.kind);
      case 'event-history':
        return this.#use('eventHistory');
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

  #repository(wiring: Extract<Wiring, { file: string }>): string {
    this.#use('repositories');
    const { name, file } = wiring;
    const key = `${file}#${name}`;
    const known = this.#repositories.get(key);
    if (known !== undefined) return known.variable;
    const model = modelOfRepository(this.#scope.emission, wiring);
    if (model === undefined) throw new Error(`${name} has no model: the checks let it pass`);
    const view = {
      variable: this.#scope.reserve(camelCase(name)),
      class: this.#scope.value({ kind: 'file', file, name }),
      descriptor: descriptorName(model, this.#scope),
    };
    this.#repositories.set(key, view);
    return view.variable;
  }
}

/** Returns the local name of a model's descriptor. */
export function descriptorName(model: ModelSchema, scope: FileScope): string {
  const { file, descriptor } = modelNames(model);
  return scope.value({ kind: 'file', file: `${scope.emission.paths.output}/${file}.ts`, name: descriptor });
}

/** Returns the model of a repository that a constructor takes. */
export function modelOfRepository(
  { schema }: Emission,
  { name, file, kind }: Extract<Wiring, { file: string }>,
): ModelSchema | undefined {
  const index = projectIndex(schema);
  const own = kind === 'repository' ? index.repositories.get(`${file}#${name}`)?.model.name : undefined;
  return own === undefined ? index.modelsByRepository.get(name) : index.models.get(own);
}
