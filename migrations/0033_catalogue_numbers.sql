-- The catalogue is searched by the numbers that vendors give their entries, in capitals or not, and by how these begin.

create index offers_number on offers (lower(cs_id) text_pattern_ops);
