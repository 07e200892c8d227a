import { PATIENCE } from "@bridge/tooling/patience";
import { checkDocument, ConfigError } from "@bridge/config";
import { defineBridge } from "@bridge/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { definition, SECRET } from "./arbitrary-definition.ts";

test("the document of a definition, read as a file is, is the same configuration, and holds no secret", async () => {
  await fc.assert(
    fc.asyncProperty(definition, async (written) => {
      const bridge = defineBridge(written);
      const text = JSON.stringify(bridge.document());
      expect(text).not.toContain(SECRET);
      const sources = {
        env: (name: string) => (name === "NOT_A_REFERENCE" ? undefined : SECRET),
        file: () => Promise.reject(new Error("no file was meant")),
      };
      const read = await checkDocument(
        JSON.parse(text),
        bridge.registry,
        sources,
        AbortSignal.timeout(PATIENCE.timeout),
      );
      if (!read.ok) throw new ConfigError(read.problems);
      expect(read.config).toEqual(bridge.config);
    }),
    { numRuns: 100 },
  );
});
