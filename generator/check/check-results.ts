import { type Diagnostic, diagnostic } from '../diagnostics.js';
import { laterActions } from '../schema/durable-actions.js';
import { innerTypes } from '../schema/fields.js';
import type { ActionSchema, ProjectSchema } from '../schema/project-schema.js';
import type { TypeSchema, UnsupportedType } from '../schema/type-schema.js';

/** Results that no idempotency key can store, of actions that are called with one: each such call would fail. */
export function unstorableResults(schema: ProjectSchema): readonly Diagnostic[] {
  const later = laterActions(schema);
  return schema.actions.flatMap((action) => {
    const unfit = takesKey(action) || later.has(action) ? notPlainPart(action.result) : undefined;
    if (unfit === undefined) return [];
    const message = `The result of ${action.className} holds ${unfit.text}, which cannot be stored under an idempotency key`;
    return diagnostic('FWGEN071', action.location, message, unfit.hint);
  });
}

/** Callers of other routes than reads may send a key. Each run of a recurring action has one. */
function takesKey({ route, schedule }: ActionSchema): boolean {
  return schedule !== undefined || (route !== undefined && route.method !== 'GET');
}

function notPlainPart(type: TypeSchema): UnsupportedType | undefined {
  if (type.kind === 'unsupported') return type.isNotPlain === true ? type : undefined;
  return innerTypes(type)
    .map(notPlainPart)
    .find((part) => part !== undefined);
}
