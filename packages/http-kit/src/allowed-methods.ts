import type { Endpoint, Method } from "./endpoint.ts";

/** HEAD answers as GET does. */
export function allowedMethods(rows: readonly Pick<Endpoint, "method">[]): readonly (Method | "HEAD")[] {
  return rows.flatMap(({ method }) => (method === "GET" ? [method, "HEAD"] : [method]));
}
