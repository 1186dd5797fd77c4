/** This package's templates and the view of each. */
export const TEMPLATES = {
  application: 'ApplicationView',
  change: 'ChangeView',
  client: 'ClientView',
  migration: 'MigrationView',
  model: 'ModelView',
  part: 'PartView',
  server: 'ServerView',
  'sql-migrations': 'SqlMigrationsView',
  versions: 'VersionsView',
} as const;

export type TemplateName = keyof typeof TEMPLATES;

/** Partials that every template may use. */
export const PARTIALS = [
  'action',
  'doc',
  'event',
  'field',
  'handler',
  'header',
  'imports',
  'repository',
  'response',
] as const;
