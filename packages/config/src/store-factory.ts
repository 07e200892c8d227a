import { suggestion } from "@bridge/ports/internal";
import { quote } from "./quote.ts";

/**
 * What is said when a store's type has no plugin (spec 7.2): by validation, and by the builder for a configuration
 * that nobody validated. `role` is dlq, outbox or lease.
 */
export function noStoreFactory(role: string, type: string, registered: Iterable<string>): string {
  const known = [...registered];
  const remedy =
    known.length === 0
      ? "none is registered for this role"
      : `registered: ${known.join(", ")}${suggestion(type, known)}`;
  return `no store factory is registered for store type ${quote(type)} in the role ${role}; ${remedy}`;
}
