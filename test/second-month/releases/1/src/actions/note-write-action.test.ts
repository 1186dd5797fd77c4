import { describe, test } from 'node:test';
import { actionSpec } from 'fw-actions/testing';
import { NoteWriteAction } from './note-write-action.js';

const write = actionSpec({ create: (kit) => new NoteWriteAction(kit.clock) });

describe('NoteWriteAction', () => {
  test('opens a note with its text', async () => {
    await write
      .when({ text: 'Buy milk', author: 'Ada', seconds: 60 })
      .thenReturns({ text: 'Buy milk', state: 'OPEN', version: 1 });
  });
});
