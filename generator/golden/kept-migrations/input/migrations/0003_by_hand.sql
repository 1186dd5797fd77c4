CREATE TABLE IF NOT EXISTS gadgets (id uuid primary key); create table "Quoted Name" (id uuid)
