import { posix } from 'node:path';
import { type Diagnostic, diagnostic, formatLocation } from '../diagnostics.js';
import { referenceKey } from '../schema/location.js';
import { modelNames } from '../schema/model-names.js';
import { projectIndex } from '../schema/project-index.js';
import type { CollaboratorSchema, ProjectSchema, SuppliedType } from '../schema/project-schema.js';
import { repeated } from './check-names.js';

/** Rules of the constructor arguments of actions. */
export function checkWiring(schema: ProjectSchema): readonly Diagnostic[] {
  return [
    ...checkRepositories(schema),
    ...checkDefaultRepositories(schema),
    ...checkPackages(schema),
    ...checkSupplied(schema),
  ];
}

function checkRepositories(schema: ProjectSchema): readonly Diagnostic[] {
  return schema.repositories.flatMap(({ name, model, location }) => {
    if (model.marked) return [];
    const message = `${name} is a repository of ${model.name}, which is not a model`;
    const hint = `Mark ${model.name} with @AutoBuilder, or use another class.`;
    return diagnostic('FWGEN039', location, message, hint);
  });
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

/** The repository of a model that is imported by the name of a package would be a collaborator. */
function checkPackages(schema: ProjectSchema): readonly Diagnostic[] {
  const known = projectIndex(schema).modelsByRepository;
  return collaboratorsOf(schema).flatMap(({ wiring, location }) => {
    if (wiring.kind !== 'supplied' || wiring.type.kind !== 'named') return [];
    const { reference } = wiring.type;
    if (reference.kind !== 'package') return [];
    const { name, module } = reference;
    if (!known.has(name) && !schema.repositories.some((each) => each.name === name)) return [];
    const message = `${name} has the name of a repository of this project, but is imported from the package '${module}'`;
    const hint =
      'Import the repository by a relative path: models, actions and output are one TypeScript project. Export an ' +
      'interface of this project that extends the type if it is another one.';
    return [diagnostic('FWGEN029', location, message, hint)];
  });
}

function checkSupplied(schema: ProjectSchema): readonly Diagnostic[] {
  const supplied = collaboratorsOf(schema).flatMap(({ name, location, wiring }) =>
    wiring.kind === 'supplied' ? [{ name, location, type: typeKey(wiring.type) }] : [],
  );
  return repeated(supplied, ({ name }) => name).flatMap(([first, { name, location, type }]) => {
    if (type === first.type) return [];
    const message = `The collaborator ${name} has a different type at ${formatLocation(first.location)}`;
    const hint = 'Rename one of the constructor parameters. The application supplies collaborators by name.';
    return diagnostic('FWGEN030', location, message, hint);
  });
}

function typeKey(type: SuppliedType): string {
  return type.kind === 'named' ? referenceKey(type.reference) : type.text;
}

function collaboratorsOf(schema: ProjectSchema): readonly CollaboratorSchema[] {
  return [...schema.actions, ...schema.handlers].flatMap(({ collaborators }) => collaborators);
}
