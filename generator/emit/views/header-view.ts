import { HEADER_PREFIX } from '../../schema/emitted-files.js';
import { commentText } from '../print/strings.js';

/** View of `partials/header.hbs`. */
export interface HeaderView {
  /** How a generated file is recognised. */
  readonly headerPrefix: string;
  /** Where the file comes from: one source path, or the source folder. */
  readonly header: string;
}

/** @param source project-relative path; '' is the project folder */
export function headerView(source: string): HeaderView {
  return {
    headerPrefix: HEADER_PREFIX,
    header: source === '' ? 'the project' : commentText(source).replaceAll('\n', ' '),
  };
}
