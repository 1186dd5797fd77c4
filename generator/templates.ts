/** Functions about templates that commands use. */
export { ownTemplateText, PARTIALS, TEMPLATES } from './emit/own-templates.js';
export { renderScaffold, type ScaffoldView } from './emit/scaffold.js';
