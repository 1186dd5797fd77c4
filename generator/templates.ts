/** Functions about templates that commands use. */
export { ownTemplateText } from './emit/own-templates.js';
export { PARTIALS, TEMPLATES } from './emit/template-names.js';
