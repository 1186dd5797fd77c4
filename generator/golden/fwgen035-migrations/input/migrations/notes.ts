export const migration = 1;
