import { addedModel, fileName, writeSyntheticProject } from './synthetic-project.js';
import { addedArea, areaFile, SHARED_FILE, writeWideProject } from './wide-project.js';

const model = `src/models/${fileName(0)}.ts`;

/**
 * Projects that differ in the size of their files and in their shared types. Each edit replaces a pattern in one file
 * by a text and a new number.
 */
export const SHAPES = {
  /** One small file per class. */
  narrow: {
    write: writeSyntheticProject,
    edits: {
      'a method': { path: model, pattern: /\bnext\d*\b/g, by: 'next' },
      'a field': { path: model, pattern: /\bremark\d*\b/, by: 'remark' },
      'a parameter': {
        path: `src/actions/${fileName(0)}-open-action.ts`,
        pattern: /@maxLength \d+/,
        by: '@maxLength ',
      },
    },
    added: addedModel,
  },
  /** Five models with events and actions per file, and types that all of them share. */
  wide: {
    write: writeWideProject,
    edits: {
      'a method': { path: areaFile(0), pattern: /\bnext\d*\b/g, by: 'next' },
      'a field': { path: areaFile(0), pattern: /\bremark\d*\b/, by: 'remark' },
      'a parameter of all actions': {
        path: SHARED_FILE,
        pattern: /@maxLength (?!12\b)\d+/,
        by: '@maxLength ',
      },
      'a type of all models': { path: SHARED_FILE, pattern: /\bcity\d*\b/, by: 'city' },
    },
    added: (index) => [addedArea(index)],
  },
};
