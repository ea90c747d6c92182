//! What can be bought: vendors' files read, building blocks and their offers as a search sees them.
