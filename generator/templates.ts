/** Functions about templates that commands use. */
export { ownTemplateText } from './emit/own-templates.js';
export { renderScaffold, type ScaffoldView } from './emit/scaffold.js';
export { PARTIALS, TEMPLATES } from './emit/template-names.js';
