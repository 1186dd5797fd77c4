export const other = 'x';
