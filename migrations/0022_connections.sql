-- How many connections to the server a process may open, so that who starts can tell whether all find room; 0: it says nothing of it.
alter table live_workers add column connections integer not null default 0;
alter table live_callers add column connections integer not null default 0;
