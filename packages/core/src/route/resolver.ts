import type { ResolverConfig } from "@bridge/config";
import type { Envelope } from "@bridge/ports";
import { compileCondition, Subject } from "@bridge/ports/conditions";

/** The bindings a message goes to, by id; `undefined` when nothing matched and there is no default. */
export type Resolver = (envelope: Envelope) => readonly string[] | undefined;

/** Compiles a route's resolver. `all` are the route's bindings. */
export function compileResolver(resolver: ResolverConfig, all: readonly string[]): Resolver {
  switch (resolver.type) {
    case "all":
      return () => all;
    case "static":
      return () => resolver.bindings;
    case "header_map": {
      const fallback = chosen(resolver.defaultBindings);
      // A missing header is not an empty one: nothing maps it.
      const map: ReadonlyMap<string | undefined, readonly string[]> = resolver.map;
      return (envelope) => map.get(envelope.headers[resolver.header]) ?? fallback;
    }
    case "rules": {
      const fallback = chosen(resolver.defaultBindings);
      const rules = resolver.rules.map(({ when, bindings }) => ({ tests: when.map(compileCondition), bindings }));
      return (envelope) => {
        const subject = new Subject(envelope);
        return rules.find((rule) => rule.tests.every((test) => test(subject)))?.bindings ?? fallback;
      };
    }
  }
}

function chosen(bindings: readonly string[]): readonly string[] | undefined {
  return bindings.length === 0 ? undefined : bindings;
}
