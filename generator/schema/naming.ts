/** `ownerId` -> `owner_id`, `HTTPStatus` -> `http_status`. */
export function snakeCase(name: string): string {
  return words(name).join('_');
}

/** `OrderItem` -> `order-item`. */
export function kebabCase(name: string): string {
  return words(name).join('-');
}

/** `Wallet` -> `wallet`, `URLEntry` -> `urlEntry`. */
export function camelCase(name: string): string {
  return name.replace(/^(\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}+$|\p{Lu})/u, (head) => head.toLowerCase());
}

/** Returns the regular English plural: `wallet` -> `wallets`, `entry` -> `entries`, `box` -> `boxes`. */
export function pluralOf(word: string): string {
  if (/[^aeiou]y$/i.test(word)) return `${word.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/i.test(word) ? `${word}es` : `${word}s`;
}

/** Words by name. Most fields of a project share their names with others. */
const known = new Map<string, readonly string[]>();

function words(name: string): readonly string[] {
  const list = known.get(name) ?? split(name);
  known.set(name, list);
  return list;
}

function split(name: string): readonly string[] {
  return name
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1_$2')
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1_$2')
    .split('_')
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}
