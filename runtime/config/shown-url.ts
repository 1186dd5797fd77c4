/** Whether a URL contains a user or a password. False for a text that is not a URL. */
export function hasCredentials(text: string | undefined): boolean {
  if (text === undefined || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

/** A URL for logs and prints: only its origin, because path, query and user may be secrets. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return '***';
  const { protocol, host, pathname, search } = new URL(text);
  return `${protocol}//${host}${pathname === '/' && search === '' ? '/' : '/***'}`;
}
