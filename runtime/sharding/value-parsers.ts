import { DatabaseError } from '../errors.js';

/** Converts the text form of a value that is not null to its JavaScript value. */
export type ValueParser = (text: string) => unknown;

/**
 * The parser for a column of this type, the same for every adapter (see `Rows`).
 *
 * @param oid the type's object id in `pg_type`, fixed for the built-in types
 */
export function parserFor(oid: number): ValueParser {
  return PARSERS.get(oid) ?? asText;
}

const asText: ValueParser = (text) => text;
const asBoolean: ValueParser = (text) => text === 't';
const asNumber: ValueParser = Number;
const asJson: ValueParser = (text): unknown => JSON.parse(text);

/** Element type, array type, parser. Types that are not listed are text. */
const TYPES: readonly (readonly [element: number, array: number, parser: ValueParser])[] = [
  [16, 1000, asBoolean], // bool
  [21, 1005, asNumber], // int2
  [23, 1007, asNumber], // int4
  [26, 1028, asNumber], // oid
  [700, 1021, asNumber], // float4
  [701, 1022, asNumber], // float8
  [114, 199, asJson], // json
  [3802, 3807, asJson], // jsonb
  [1184, 1185, parseInstant], // timestamptz
  [20, 1016, asText], // int8
  [1700, 1231, asText], // numeric
  [2950, 2951, asText], // uuid
  [25, 1009, asText], // text
  [1043, 1015, asText], // varchar
  [1042, 1014, asText], // bpchar
  [19, 1003, asText], // name
  [1082, 1182, asText], // date
  [1114, 1115, asText], // timestamp
];

const PARSERS: ReadonlyMap<number, ValueParser> = new Map(
  TYPES.flatMap(([element, array, parser]): [number, ValueParser][] => [
    [element, parser],
    [array, (text) => parseArray(text, parser)],
  ]),
);

const DIGIT_0 = 48;
const DASH = 45;
const SPACE = 32;
const INSTANT =
  /^(\d{4,6})(-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)([+-]\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/;

/**
 * Parses PostgreSQL's ISO form of a `timestamptz`. Truncates fractions of a millisecond.
 *
 * @throws DatabaseError for `infinity` and `-infinity`, which a `Date` cannot represent
 */
export function parseInstant(text: string): Date {
  // Sessions run in UTC, so nearly every value has the form 2024-01-02 03:04:05[.123456]+00, which needs no pattern
  // matching.
  const zone = text.length - 3;
  if (
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(10) === SPACE &&
    text.endsWith('+00') &&
    (zone === 19 || (zone > 20 && zone <= 26)) &&
    text.charCodeAt(0) > DIGIT_0
  ) {
    return new Date(
      Date.UTC(
        twoDigits(text, 0) * 100 + twoDigits(text, 2),
        twoDigits(text, 5) - 1,
        twoDigits(text, 8),
        twoDigits(text, 11),
        twoDigits(text, 14),
        twoDigits(text, 17),
        milliseconds(text, zone),
      ),
    );
  }
  return parseUncommonInstant(text);
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - DIGIT_0) * 10 + text.charCodeAt(at + 1) - DIGIT_0;
}

function milliseconds(text: string, end: number): number {
  let result = 0;
  for (let at = 20, weight = 100; at < end && weight >= 1; at += 1, weight /= 10) {
    result += (text.charCodeAt(at) - DIGIT_0) * weight;
  }
  return result;
}

/** Handles years beyond 9999 or before 1000, other offsets than UTC, and years BC. */
function parseUncommonInstant(text: string): Date {
  const parts = INSTANT.exec(text);
  if (parts === null) throw new DatabaseError(`A timestamptz of ${text} has no instant`, {});
  const [, year, day, timeOfDay, hours = '', minutes = '00', seconds = '0', era] = parts;
  const number = era === undefined ? Number(year) : 1 - Number(year);
  const isoYear = `${number < 0 ? '-' : '+'}${String(Math.abs(number)).padStart(6, '0')}`;
  const instant = Date.parse(`${isoYear}${day}T${timeOfDay}${hours}:${minutes}`);
  return new Date(instant - Number(`${hours.charAt(0)}${seconds}`) * 1_000);
}

const ARRAY_TOKEN = /([{}])|"((?:[^"\\]|\\.)*)"|([^{},"]+)/gs;

/** Parses `{a,"b c",NULL,{...}}`. A prefix with the bounds (`[0:1]={...}`) is skipped. */
export function parseArray(text: string, parser: ValueParser): unknown[] {
  const root: unknown[] = [];
  const open: unknown[][] = [root];
  ARRAY_TOKEN.lastIndex = text.indexOf('{');
  for (let token = ARRAY_TOKEN.exec(text); token !== null; token = ARRAY_TOKEN.exec(text)) {
    const [, brace, quoted, plain] = token;
    if (brace === '{') open.push(nest(open.at(-1) ?? root));
    else if (brace === '}') open.pop();
    else if (quoted !== undefined) open.at(-1)?.push(parser(quoted.replace(/\\(.)/gs, '$1')));
    else if (plain !== undefined) open.at(-1)?.push(plain === 'NULL' ? null : parser(plain));
  }
  const [value] = root;
  return Array.isArray(value) ? value : root;
}

function nest(parent: unknown[]): unknown[] {
  const child: unknown[] = [];
  parent.push(child);
  return child;
}
