alter table things add column note text
