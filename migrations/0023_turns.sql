-- Whose turn it is to look after the dead of a queue: one worker's a second, and not each one's.
create table queue_turns (
    queue text primary key,
    taken_at timestamptz not null default now()
);
