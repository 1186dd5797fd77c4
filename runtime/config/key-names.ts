/** `maximumPoolSize` -> `maximum-pool-size` */
export function kebabCase(camelCase: string): string {
  return camelCase.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `maximum-pool-size` -> `maximumPoolSize`; a name without hyphens is returned unchanged. */
export function camelCase(kebabCase: string): string {
  return kebabCase.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

import type { KeyStyle } from './key.js';

/** The name in the style of the source. */
export function inStyle(name: string, style: KeyStyle): string {
  return style === 'camelCase' ? name : kebabCase(name);
}

/** `fw.sharding` and `groups` -> `fw.sharding.groups`; a key that is not a plain word is quoted. */
export function childPath(path: string, key: string): string {
  const plain = /^[A-Za-z0-9_-]{1,64}$/.test(key);
  if (!plain) return `${path}[${JSON.stringify(key.length > 40 ? `${key.slice(0, 40)}…` : key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
