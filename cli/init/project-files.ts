/** Every file of a new project, by path: `templates/init/` of this package. */
export { renderScaffold as projectFiles } from '../../generator/templates.js';

/** File of the development token. */
export const TOKEN_FILE = '.dev-token';

/** Files that only their owner may read, and that are neither committed nor part of an image. */
export const SECRET_FILES: readonly string[] = [TOKEN_FILE, '.env'];

/** An example request to the new project. */
export function exampleRequest(token: string): string {
  return `curl -i http://127.0.0.1:8080/notes -H "Authorization: Bearer ${token}" --json '{"text":"Buy milk"}'`;
}
