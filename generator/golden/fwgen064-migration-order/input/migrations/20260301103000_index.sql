create index notes_color on notes (color);
