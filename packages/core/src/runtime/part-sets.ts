import type { RuntimeParts } from "./runtime-parts.ts";

/** The parts of `all` that are not in `others`. */
export function without(all: RuntimeParts, others: RuntimeParts): RuntimeParts {
  return select(all, others, false);
}

/** The parts of `all` that are in `others` too. */
export function common(all: RuntimeParts, others: RuntimeParts): RuntimeParts {
  return select(all, others, true);
}

function select(all: RuntimeParts, others: RuntimeParts, shared: boolean): RuntimeParts {
  const pick = <Part>(kind: (parts: RuntimeParts) => ReadonlyMap<string, Part>): ReadonlyMap<string, Part> => {
    const known = new Set(kind(others).values());
    return new Map([...kind(all)].filter(([, part]) => known.has(part) === shared));
  };
  return {
    leases: pick(({ leases }) => leases),
    links: pick(({ links }) => links),
    intakes: pick(({ intakes }) => intakes),
    senders: pick(({ senders }) => senders),
    processors: pick(({ processors }) => processors),
    routes: pick(({ routes }) => routes),
    managed: all.managed,
  };
}
