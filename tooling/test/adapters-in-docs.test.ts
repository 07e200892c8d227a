import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);

test("the table of what goes into a registry names the adapter of every transport that there is", () => {
  const docs = readFileSync(new URL("docs/embedding.md", ROOT), "utf8");
  const [row = ""] = /^\| `transports` .*$/m.exec(docs) ?? [];
  const transports = readdirSync(new URL("packages/", ROOT)).flatMap(
    (name) => /^transport-(.+)$/.exec(name)?.[1] ?? [],
  );
  expect(transports.length).toBeGreaterThan(5);
  for (const name of transports) expect(row).toMatch(new RegExp(`\`${name}(?:Transport)?(?:\\(\\))?\``));
});
