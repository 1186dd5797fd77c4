import type { LockedType } from '../../schema/locked-type.js';
import type { Emission } from '../emission.js';
import { FileScope, type ImportView } from '../file-scope.js';
import { type MemberView, shapeMembers, shapeText } from '../shape-text.js';
import { versionsFile, versionsTypeName } from '../upcasters-code.js';
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
  const taken = lockedTypes.flatMap((each) => [versionsTypeName(each, 'Upcasters'), ...versionNames(each)]);
  const scope = new FileScope(emission, versionsFile(emission.paths.output), taken);
  const types = lockedTypes.flatMap((each) => versionTypes(each, scope));
  return {
    ...headerView(emission.paths.source),
    types,
    upcasters: lockedTypes.map((each) => upcastersOf(each)),
    imports: scope.statements(),
  };
}

function versionNames(locked: LockedType): readonly string[] {
  return locked.versions.map((_, index) => versionsTypeName(locked, `V${index + 1}`));
}

function versionTypes(locked: LockedType, scope: FileScope): readonly VersionTypeView[] {
  return locked.versions.map((shape, index) => {
    const members = shape === undefined ? [] : (shapeMembers(shape, scope) ?? []);
    return {
      name: versionsTypeName(locked, `V${index + 1}`),
      version: index + 1,
      of: wordsOf(locked),
      members,
      text:
        shape === undefined
          ? scope.runtimeType('JsonObject')
          : members.length > 0
            ? ''
            : shapeText(shape, scope),
    };
  });
}

function upcastersOf(locked: LockedType): UpcastersView {
  const names = versionNames(locked);
  return {
    name: versionsTypeName(locked, 'Upcasters'),
    of: wordsOf(locked),
    steps: names.slice(1).map((to, index) => ({ from: names[index] ?? '', to })),
  };
}

function wordsOf({ of, className }: LockedType): string {
  return of === 'event' ? `\`${className}\`` : `the params of \`${className}\``;
}
