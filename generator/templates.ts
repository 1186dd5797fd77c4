/** What commands need to know about templates. */
export { ownTemplateText } from './emit/own-templates.js';
export { PARTIALS, TEMPLATES } from './emit/template-names.js';
