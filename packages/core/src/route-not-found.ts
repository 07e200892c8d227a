import { OperationError } from "./operation-error.ts";

/** So many ids are told: a bridge may have thousands. */
const TOLD = 10;

/** A program has named a route that is not configured. */
export function routeNotFound(routeId: string, configured: Iterable<string>): OperationError {
  const ids = [...configured].map((id) => JSON.stringify(id));
  const more = ids.length > TOLD ? ` and ${ids.length - TOLD} more` : "";
  const known = ids.length === 0 ? "no route is configured" : `configured are ${ids.slice(0, TOLD).join(", ")}${more}`;
  return new OperationError("not_found", `route not found: ${JSON.stringify(routeId) ?? "undefined"}; ${known}`);
}
