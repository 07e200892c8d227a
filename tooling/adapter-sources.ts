/** Where the sources of adapters stand: a store may share its package with others. @module */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder with the sources of an adapter, by a name such as `transport-http`, `dlq-file`, `outbox-file` and `processors`. */
export function adapterSources(name: string): string {
  const own = sourcesOf(name);
  if (existsSync(own)) return own;
  const [, role, type] = /^(\w+)-(.+)$/.exec(name) ?? [];
  return `${sourcesOf(type ?? name)}/${role}`;
}

function sourcesOf(name: string): string {
  return fileURLToPath(new URL(`../packages/${name}/src`, import.meta.url));
}
