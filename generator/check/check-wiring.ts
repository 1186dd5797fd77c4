import { posix } from 'node:path';
import { type Diagnostic, diagnostic, formatLocation } from '../diagnostics.js';
import { referenceKey } from '../schema/location.js';
import { modelNames } from '../schema/model-names.js';
import { projectIndex } from '../schema/project-index.js';
import type { CollaboratorSchema, ProjectSchema, SuppliedType } from '../schema/project-schema.js';

/** Rules of the constructor arguments of actions. */
export function checkWiring(schema: ProjectSchema): readonly Diagnostic[] {
  return [...checkRepositories(schema), ...checkDefaultRepositories(schema), ...checkSupplied(schema)];
}

function checkRepositories(schema: ProjectSchema): readonly Diagnostic[] {
  return schema.repositories
    .filter(({ model }) => !model.marked)
    .map(({ name, model, location }) =>
      diagnostic(
        'FWGEN039',
        location,
        `${name} is a repository of ${model.name}, which is not a model`,
        `Mark ${model.name} with @AutoBuilder, or use another class.`,
      ),
    );
}

/** A default repository exists only for a model without its own repository class. */
function checkDefaultRepositories(schema: ProjectSchema): readonly Diagnostic[] {
  const index = projectIndex(schema);
  return collaboratorsOf(schema).flatMap(({ wiring, location }) => {
    if (wiring.kind !== 'default-repository') return [];
    const named = index.modelsByRepository.get(wiring.name);
    const itsFile = named && posix.join(posix.dirname(wiring.file), `${modelNames(named).file}.ts`);
    const isItsFile = itsFile === wiring.file;
    const own = named && index.repositoriesByModel.get(named.name);
    const isRefused = schema.refusedModels.some((name) => wiring.name === `${name}Repository`);
    if (isRefused || (isItsFile && own === undefined)) return [];
    const hint =
      own === undefined
        ? `Import the repository of a model from the emitted file of that model${itsFile === undefined ? '' : `: ${itsFile}`}.`
        : `Import ${own.name} from ${own.file}: a model with its own repository class has no default repository.`;
    return [diagnostic('FWGEN029', location, `${wiring.file} does not export ${wiring.name}`, hint)];
  });
}

function checkSupplied(schema: ProjectSchema): readonly Diagnostic[] {
  const seen = new Map<string, CollaboratorSchema>();
  const found: Diagnostic[] = [];
  for (const collaborator of collaboratorsOf(schema)) {
    if (collaborator.wiring.kind !== 'supplied') continue;
    const first = seen.get(collaborator.name);
    if (first === undefined) seen.set(collaborator.name, collaborator);
    else if (typeKey(first) !== typeKey(collaborator)) found.push(conflict(first, collaborator));
  }
  return found;
}

function conflict(first: CollaboratorSchema, second: CollaboratorSchema): Diagnostic {
  return diagnostic(
    'FWGEN030',
    second.location,
    `The collaborator ${second.name} has a different type at ${formatLocation(first.location)}`,
    'Rename one of the constructor parameters. The application supplies collaborators by name.',
  );
}

function typeKey({ wiring }: CollaboratorSchema): string {
  return wiring.kind === 'supplied' ? suppliedKey(wiring.type) : wiring.kind;
}

function suppliedKey(type: SuppliedType): string {
  return type.kind === 'named' ? referenceKey(type.reference) : type.text;
}

function collaboratorsOf(schema: ProjectSchema): readonly CollaboratorSchema[] {
  return [...schema.actions, ...schema.handlers].flatMap(({ collaborators }) => collaborators);
}
