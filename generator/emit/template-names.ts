/** This package's templates and the view of each. */
export const TEMPLATES = {
  application: 'ApplicationView',
  change: 'ChangeView',
  client: 'ClientView',
  'client-part': 'ClientPartView',
  migration: 'MigrationView',
  model: 'ModelView',
  server: 'ServerView',
  'sql-migrations': 'SqlMigrationsView',
  versions: 'VersionsView',
} as const;

export type TemplateName = keyof typeof TEMPLATES;

/** Partials that every template may use. */
export const PARTIALS = ['header', 'imports'] as const;
