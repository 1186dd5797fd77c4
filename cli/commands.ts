import type { CommandEntry } from './command.js';
import { CONFIGURATION } from './config-command.js';
import { DEV } from './dev-command.js';
import { EXPLAIN } from './explain-command.js';
import { GENERATE } from './generate-command.js';
import { INIT } from './init-command.js';
import { OPENAPI } from './openapi-command.js';
import { DOCTOR } from './operate/doctor.js';
import { EVENTS } from './operate/events.js';
import { HISTORY } from './operate/history.js';
import { IMPORT } from './operate/import.js';
import { CONNECTORS, SCHEMAS } from './operate/integration-files.js';
import { JOURNAL } from './operate/journal.js';
import { KEYS } from './operate/keys.js';
import { MIGRATE } from './operate/migrate.js';
import { RELAY } from './operate/relay.js';
import { SAGAS } from './operate/sagas.js';
import { TOP } from './operate/top.js';
import { TEMPLATES } from './templates-command.js';

/** Every command, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  INIT,
  GENERATE,
  DEV,
  EXPLAIN,
  OPENAPI,
  TEMPLATES,
  MIGRATE,
  DOCTOR,
  TOP,
  EVENTS,
  RELAY,
  CONNECTORS,
  SCHEMAS,
  SAGAS,
  HISTORY,
  IMPORT,
  JOURNAL,
  KEYS,
  CONFIGURATION,
];
