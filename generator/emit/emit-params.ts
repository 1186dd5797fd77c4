import type { ParamsChange } from '../schema/outline.js';
import type { ActionSchema, ProjectSchema } from '../schema/project-schema.js';
import { Emission } from './emission.js';
import { Components } from './openapi/components.js';
import { operationPart } from './openapi/document.js';
import { requestKey } from './openapi/operation.js';
import { type Code, Expression, Traced } from './print/code.js';
import { memberName } from './print/strings.js';
import { ResponseFields } from './response-fields.js';
import { actionPart, applicationImports, routeCode } from './views/application-view.js';
import { modelFile } from './views/model-view.js';
import { WiringPrinter } from './wiring-printer.js';

/** The two files that hold what params give. */
export interface ParamsTexts {
  readonly application: string;
  readonly openapi: string;
}

/** Where the application is emitted to. */
export interface ParamsPlace {
  readonly file: string;
  readonly outputFolder: string;
}

/** Beyond, looking for each in large texts takes longer than printing them anew. */
const MAXIMUM_CHANGES = 16;

/**
 * The texts with the new params of some actions in place of the old ones. What an action gives is printed as it was and
 * as it is, and the one put where the other stands. Declines wherever that might not be what the whole project gives: if
 * a name was taken by something else, or if more than these places hang on the change; and for too many changes.
 *
 * @param schema around the actions, see `schemaAround` @param texts as they were emitted for the params before
 */
export function emitParams(
  schema: ProjectSchema,
  changes: readonly ParamsChange[],
  place: ParamsPlace,
  texts: ParamsTexts,
): ParamsTexts | undefined {
  if (changes.length > MAXIMUM_CHANGES) return undefined;
  let { application, openapi } = texts;
  for (const { before, after } of changes) {
    if (!hasItsOwnName(before, application, place)) return undefined;
    const old = partsOf(before, schema, place);
    const now = partsOf(after, schema, place);
    if (referencesIn(old) !== referencesIn(now)) return undefined;
    const nextApplication = replaceAll(application, old.application, now.application);
    const nextOpenapi = replaceAll(openapi, old.openapi, now.openapi);
    if (nextApplication === undefined || nextOpenapi === undefined) return undefined;
    application = nextApplication;
    openapi = nextOpenapi;
  }
  return { application, openapi };
}

/** Whole lines of the files, as printed. Each holds something that no other element has: a name, a path, a key. */
type Parts = Readonly<Record<keyof ParamsTexts, readonly string[]>>;

function partsOf(action: ActionSchema, around: ProjectSchema, place: ParamsPlace): Parts {
  const emission = new Emission({ ...around, actions: [action] });
  const imports = applicationImports(place);
  const application: string[] = [];
  const openapi: string[] = [];
  for (const routed of emission.routes) {
    const { method } = routed.route;
    const route = routeCode(emission, routed, imports, new ResponseFields(imports, emission));
    application.push(line(2, '', route));
    const components = new Components(emission.isSharded, emission.part);
    const operation = operationPart(routed, components, emission.part);
    openapi.push(line(6, `${method.toLowerCase()}: `, operation));
    const body = components.schemaOf(requestKey(action));
    if (body !== undefined) openapi.push(line(6, `${memberName(body.name)}: `, body.schema));
  }
  const wiring = new WiringPrinter(emission, (model) => modelFile(place.outputFolder, model), imports, place);
  application.push(line(6, '', actionPart(emission, wiring, action)));
  return { application, openapi };
}

/** A list's element or an object's member, with the ends of the lines around it. */
function line(indent: number, key: string, code: Code): string {
  const value = code instanceof Traced ? code.code : code;
  return `\n${' '.repeat(indent)}${key}${value instanceof Expression ? value.text : ''},\n`;
}

/** Undefined if one of the old parts is not there. The same references mean that there are as many new ones. */
function replaceAll(text: string, old: readonly string[], now: readonly string[]): string | undefined {
  let replaced = text;
  for (const [index, before] of old.entries()) {
    const after = now[index];
    const start = replaced.indexOf(before);
    // What fits on one line might now share it with its neighbours.
    if (start === -1 || after === undefined || !isOfSeveralLines(after)) return undefined;
    replaced = `${replaced.slice(0, start)}${after}${replaced.slice(start + before.length)}`;
  }
  return replaced;
}

function isOfSeveralLines(part: string): boolean {
  return part.trim().includes('\n');
}

/** Whether the class goes by its own name in the text, and no other does. */
function hasItsOwnName({ className, file }: ActionSchema, application: string, place: ParamsPlace): boolean {
  const specifier = applicationImports(place).specifier(file);
  return (
    application.includes(`\nimport { ${className} } from '${specifier}';\n`) &&
    !application.includes(` ${className} as `)
  );
}

/** Parts of the document that operations refer to, as one text: each is there because somebody refers to it. */
function referencesIn({ openapi }: Parts): string {
  const references = openapi.flatMap((part) => part.match(/\$ref: '[^']*'/g) ?? []);
  return [...new Set(references)].sort().join();
}
