import { HEADER_PREFIX } from '../../schema/emitted-files.js';
import { commentText } from '../print/strings.js';

/** View of `partials/header.hbs`. */
export interface HeaderView {
  /** Identifies a generated file. */
  readonly headerPrefix: string;
  /** Source of the file: one path, or the source folder. */
  readonly header: string;
}

/** View of `server.hbs`, which is the same in every project. */
export type ServerView = HeaderView;

/** @param source project-relative path; '' is the project folder */
export function headerView(source: string): HeaderView {
  return {
    headerPrefix: HEADER_PREFIX,
    header: source === '' ? 'the project' : commentText(source).replaceAll('\n', ' '),
  };
}
