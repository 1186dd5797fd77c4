import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { placeKey, projectIndex } from '../schema/project-index.js';
import type { ProjectSchema, SagaSchema } from '../schema/project-schema.js';

/** Rules of sagas: each has a state model that is stored, has a sharded id, and emits events. */
export function checkSagas(schema: ProjectSchema): readonly Diagnostic[] {
  return schema.sagas.flatMap((saga) => {
    // The mistake in its state is reported there.
    if (saga.state !== undefined && schema.refusedModels.includes(saga.state.name)) return [];
    const problem = problemOf(saga, schema);
    if (problem === undefined) return [];
    const [message, hint] = problem;
    return [diagnostic('FWGEN052', saga.stateLocation, message, hint)];
  });
}

function problemOf(
  { className, state }: SagaSchema,
  schema: ProjectSchema,
): readonly [message: string, hint: string] | undefined {
  const model = state && projectIndex(schema).modelsByPlace.get(placeKey(state));
  if (model?.kind !== 'model') {
    return [
      `The state of ${className} is not a model`,
      'Use a class that extends Model<X, ShardedId<X>, State> and is marked with @AutoBuilder.',
    ];
  }
  if (!model.sharded) {
    return [
      `${className} has the state ${model.name}, whose id has no shard`,
      `Write \`extends Model<${model.name}, ShardedId<${model.name}>, State>\`: a saga stays on the shard on which it starts.`,
    ];
  }
  if (schema.events.some((event) => placeKey(event.model) === placeKey(model))) return undefined;
  return [
    `${className} has the state ${model.name}, which has no events`,
    `Add a class that extends ModelEvent<${model.name}>, and attach an instance to each new state. The event starts the step.`,
  ];
}
