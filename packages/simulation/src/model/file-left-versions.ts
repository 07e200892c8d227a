import type { ConfigLeftVersions, StoredConfig } from "@bridge/ports";
import type { Ask } from "./document-store.ts";
import type { KeptDocument } from "./kept-document.ts";

const KEPT = 20;

/** Former documents that have left something in their stores, as the adapter for files keeps them. */
export function fileLeftVersions(kept: KeptDocument, ask: Ask): ConfigLeftVersions {
  const { trace } = kept.options;
  const others = (one: StoredConfig) =>
    kept.left.filter(({ stored }) => stored.version !== one.version || stored.revision !== one.revision);
  return {
    list: (signal) =>
      ask(signal, async () =>
        kept.left.map(({ stored, stores }) => {
          const { version, revision } = stored;
          const { places } = stored;
          return {
            version,
            stores,
            ...(places !== undefined && { places }),
            where: `${version} as ${revision}`,
            kept: { stored },
          };
        }),
      ),
    keep: (left, stores, signal) =>
      ask(signal, async () => {
        const known = kept.left.find(({ stored }) => stored.revision === left.revision);
        const all = new Set([...(known?.stores ?? []), ...stores]);
        kept.left = [{ stored: left, stores: [...all] }, ...others(left)]
          .toSorted((a, b) => b.stored.version - a.stored.version)
          .slice(0, KEPT);
        trace.add(`document: version ${left.version} has left ${stores.join(" and ")}`);
      }),
    narrow: (one, stores, signal) =>
      ask(signal, async () => {
        if ("unreadable" in one.kept) return;
        const { stored } = one.kept;
        if (others(stored).length === kept.left.length) return;
        kept.left =
          stores.length === 0
            ? others(stored)
            : kept.left.map((each) => (each.stored.revision === stored.revision ? { stored, stores } : each));
        if (stores.length === 0) kept.held.keep(stored);
        trace.add(`document: version ${stored.version} has left ${stores.join(" and ") || "nothing"}`);
      }),
  };
}
