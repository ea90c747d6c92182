-- Details of a sample's molecules, in arrays of the same order.

-- Null: none were asked for. Text of JSON, since it is only read as a whole, and binary JSON would hold ten thousand numbers as decimals.
alter table samples add column details json;
