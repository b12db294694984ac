/** The circle that `id` would close by depending on `depends`, or undefined. */
export function findCycle(
  id: string,
  depends: readonly string[],
  tasks: readonly { id: string; depends_on: readonly string[] }[],
): string[] | undefined {
  const edges = new Map(tasks.map((task) => [task.id, task.depends_on]));
  const seen = new Set<string>();
  const walk = (at: string, trail: string[]): string[] | undefined => {
    if (at === id) return [...trail, at];
    if (seen.has(at)) return undefined;
    seen.add(at);
    for (const next of edges.get(at) ?? []) {
      const cycle = walk(next, [...trail, at]);
      if (cycle) return cycle;
    }
    return undefined;
  };
  for (const first of depends) {
    const cycle = walk(first, [id]);
    if (cycle) return cycle;
  }
  return undefined;
}
