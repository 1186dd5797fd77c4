import type { JsonValue } from '../../../runtime/domain/json.js';
import { isShape, type LockedType, lockedTypeName, type Shape } from '../../schema/locked-type.js';
import type { Emission } from '../emission.js';
import { FileScope, type ImportView } from '../file-scope.js';
import { literal } from '../print/literal.js';
import { memberName } from '../print/strings.js';
import { type HeaderView, headerView } from './header-view.js';

/** View of `versions.hbs`: the stored shapes of older versions, as types of upcasters. */
export interface VersionsView extends HeaderView {
  readonly imports: readonly ImportView[];
  readonly types: readonly VersionTypeView[];
  readonly upcasters: readonly UpcastersView[];
}

/** One version of an event's payload, or of an action's params. */
export interface VersionTypeView {
  readonly name: string;
  readonly version: number;
  /** Name of the event or action, for comments. */
  readonly of: string;
  /** Members of the stored object; empty for another type. */
  readonly members: readonly MemberView[];
  /** The type without members: an empty object, or an unknown one. */
  readonly text: string;
}

/** The upcasters of one class. */
export interface UpcastersView {
  readonly name: string;
  readonly of: string;
  readonly steps: readonly UpcasterView[];
}

/** One upcaster: names of its parameter type and its return type. */
export interface UpcasterView {
  readonly from: string;
  readonly to: string;
}

/** Builds the view of `versions.hbs`. */
export function versionsView(emission: Emission, lockedTypes: readonly LockedType[]): VersionsView {
  const classes = lockedTypes.map((locked) => ({
    of: locked.of === 'event' ? `\`${locked.className}\`` : `the params of \`${locked.className}\``,
    name: versionsTypeName(locked, 'Upcasters'),
    versions: locked.versions.map((shape, index) => {
      const version = index + 1;
      return { name: versionsTypeName(locked, `V${version}`), version, shape };
    }),
  }));
  const taken = classes.flatMap((each) => [each.name, ...each.versions.map(({ name }) => name)]);
  const scope = new FileScope(emission, versionsFile(emission.paths.output), taken);
  return {
    ...headerView(emission.paths.source),
    types: classes.flatMap(({ of, versions }) =>
      versions.map(({ name, version, shape }) => ({ name, version, of, ...shapeView(shape, scope) })),
    ),
    upcasters: classes.map(({ of, name, versions }) => ({
      ...{ of, name },
      steps: versions.slice(1).map((to, index) => ({ from: versions[index]?.name ?? '', to: to.name })),
    })),
    imports: scope.statements(),
  };
}

/** @param shape undefined: unknown */
function shapeView(shape: Shape | undefined, scope: FileScope): Pick<VersionTypeView, 'members' | 'text'> {
  if (shape === undefined) return { members: [], text: scope.runtimeType('JsonObject') };
  const members = shapeMembers(shape, scope);
  return { members, text: members.length > 0 ? '' : shapeText(shape, scope) };
}

/** Project-relative path of the emitted file that holds the types of older versions. */
function versionsFile(outputFolder: string): string {
  return `${outputFolder}/versions.ts`;
}

/** Name of an emitted type: `ThingSoldV1`, `SettleBillActionParamsUpcasters`. */
function versionsTypeName(locked: Pick<LockedType, 'of' | 'className'>, end: string): string {
  return `${lockedTypeName(locked)}${end}`;
}

/**
 * Returns the upcasters of a class for its descriptor, or '' for a class without older versions. An upcaster of another
 * type does not compile.
 *
 * @param classText local name of the class
 */
export function upcastersText(
  version: number | undefined,
  locked: Pick<LockedType, 'of' | 'className'>,
  classText: string,
  scope: FileScope,
): string {
  if (version === undefined || version === 1) return '';
  const name = versionsTypeName(locked, 'Upcasters');
  const type = scope.type({ kind: 'file', file: versionsFile(scope.emission.paths.output), name });
  return `${scope.runtimeValue('typedUpcasters')}<${type}>(${classText}.upcasters)`;
}

/** View of one member of a type: `readonly name?: type`. */
export interface MemberView {
  /** In quotes if it is not an identifier; with a question mark if it is optional. */
  readonly name: string;
  readonly type: string;
}

/** Returns the members of a stored object, as `events.lock` contains its shape; none for another shape. */
function shapeMembers(
  { properties, required, additionalProperties }: Shape,
  scope: FileScope,
): readonly MemberView[] {
  if (isShape(additionalProperties) || !isShape(properties)) return [];
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.entries(properties).map(([name, field]) => ({
    name: `${memberName(name)}${isRequired(name) ? '' : '?'}`,
    type: shapeText(field, scope),
  }));
}

/** Returns the TypeScript type of JSON of a shape, on one line. */
function shapeText(shape: JsonValue | undefined, scope: FileScope): string {
  if (!isShape(shape)) return scope.runtimeType('JsonValue');
  const { type, enum: values } = shape;
  const names = Array.isArray(type) ? type : [type];
  if (Array.isArray(values)) return values.map(literal).join(' | ');
  const text = plainText(
    names.find((each) => each !== 'null'),
    shape,
    scope,
  );
  return names.includes('null') ? `${text} | null` : text;
}

function plainText(name: JsonValue | undefined, shape: Shape, scope: FileScope): string {
  switch (name) {
    case 'string':
    case 'number':
    case 'boolean':
      return name;
    case 'array':
      return `ReadonlyArray<${shapeText(shape['items'], scope)}>`;
    case 'object': {
      const { additionalProperties } = shape;
      if (isShape(additionalProperties))
        return `Readonly<Record<string, ${shapeText(additionalProperties, scope)}>>`;
      const members = shapeMembers(shape, scope).map((member) => `readonly ${member.name}: ${member.type}`);
      return members.length === 0 ? 'Readonly<Record<never, never>>' : `{ ${members.join('; ')} }`;
    }
    default:
      return scope.runtimeType('JsonValue');
  }
}
