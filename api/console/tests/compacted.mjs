// Compact form of an answer, as the service makes it.

const GRAPH = new Set(["directed", "multigraph", "nodes", "edges"]);

export function compacted(answer) {
  const [molecules, steps] = [new Map(), new Map()];
  const indexOf = (items, item) => {
    const text = JSON.stringify(item);
    if (!items.has(text)) items.set(text, items.size);
    return items.get(text);
  };
  const route = (graph) => {
    const out = Map.groupBy(graph.edges, ({ source }) => source);
    const stepOf = ([{ source, target, plausibility, ...evidence }, ...more]) => ({
      product: source, precursors: [target, ...more.map((edge) => edge.target)], plausibility, ...(Object.keys(evidence).length && { evidence }),
    });
    return {
      ...Object.fromEntries(Object.entries(graph).filter(([name]) => !GRAPH.has(name))),
      molecules: graph.nodes.map(({ id, data, ...standing }) => indexOf(molecules, { id, data: { ...data, depth: 0 }, ...(Object.keys(standing).length && { standing }) })),
      steps: graph.nodes.filter(({ id }) => out.has(id)).map(({ id }) => indexOf(steps, stepOf(out.get(id)))),
    };
  };
  const route_hierarchy = Object.fromEntries(Object.entries(answer.route_hierarchy).map(([depth, groups]) => [
    depth, Object.fromEntries(Object.entries(groups).map(([backbone, variations]) => [backbone, variations.map((routes) => routes.map(route))])),
  ]));
  const items = (map) => [...map.keys()].map((text) => JSON.parse(text));
  return { ...answer, molecules: items(molecules), steps: items(steps), route_hierarchy };
}
