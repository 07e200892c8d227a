/** Stands in for curl where there is none: `[-sS] [-H HEADER]… [-d BODY] URL`. @module */
import { parseArgs } from "node:util";

const string = { type: "string" } as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    header: { ...string, short: "H", multiple: true },
    data: { ...string, short: "d" },
    silent: { type: "boolean", short: "s" },
    "show-error": { type: "boolean", short: "S" },
  },
});
const headers = new Headers((values.header ?? []).map((header) => header.split(": ", 2) as [string, string]));
const body = values.data ?? null;
const response = await fetch(positionals[0] ?? "", { headers, body, method: body === null ? "GET" : "POST" });
process.stdout.write(await response.text());
