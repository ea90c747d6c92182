// What the console uses of browsers and Node 20 lacks.

Map.groupBy ??= (items, key) => {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
};
