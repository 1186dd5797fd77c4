create table notes (id int);
