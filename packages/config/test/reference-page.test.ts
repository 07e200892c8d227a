import { describe, expect, it } from "vitest";
import { configReference, createRegistry } from "../src/index.ts";
import { registry } from "./support/plugins.ts";

const page = configReference(registry);
const rows = page.split("\n").filter((line) => line.startsWith("| `"));

describe("the configuration reference", () => {
  it("has a row with type, default and meaning for every key", () => {
    expect(rows).toContain("| `id` | id | required | Names the bridge. |");
    expect(rows).toContain(
      "| `drain_timeout` | duration | `30s` | The most time that a runtime is given to finish its work when it is stopped. |",
    );
    expect(page).toMatch(/^\| `admin_api_key` \| secret \| empty \| /m);
    expect(page).toMatch(/^\| `delivery_mode` \| `direct_hold`, `shared_outbox` \| `direct_hold` \| /m);
    expect(page).toMatch(/^\| `topics\[\]\.qos` \| `0`, `1`, `2` \| `1` \| /m);
    expect(page).toMatch(/^\| `policy\.backoff\.jitter` \| number from 0 to 1 \| `0\.2` \| /m);
    expect(page).toMatch(/^\| `policy\.max_replay_attempts` \| integer, at least 1 \| `5` \| /m);
    expect(page).toMatch(/^\| `file\.max_bytes` \| integer, at least 4096 \| `67108864` \| /m);
    expect(page).toMatch(/^\| `bindings` \| list of ids \| required \| /m);
  });

  it("has a table for each form of a resolver and of a condition", () => {
    for (const type of ["all", "static", "rules", "header_map"])
      expect(page).toContain(`**\`resolver\` with \`type\` \`${type}\`**`);
    expect(page).toContain("**`rules[].when` with `op` `gt`, `gte`, `lt`, `lte`**");
    expect(page).toContain("| `map` | map from string to id or list of ids | required |");
  });

  it("has the options of each registered plugin", () => {
    expect(page).toContain("### Options of a session of `mqtt`");
    expect(page).toMatch(/^\| `keep_alive` \| duration \| `60s` \| How often to say that we are there\. \|$/m);
    expect(page).toMatch(/^\| `password` \| secret \| {2}\| The user's password\. \|$/m);
    expect(page).toMatch(/^\| `headers` \| map from string to secret \| {2}\| Headers to add\. \|$/m);
    expect(page).toContain("### Options of a receiver of `mqtt`\n\nNo keys.");
    expect(page).toContain("## Store `memory` in the role `dlq`");
    expect(page).toContain("## Processor `filter`");
  });

  it("leaves no cell of a meaning empty", () => {
    // The plugin "broken" has no keys to speak of, and "will" is a union without words.
    const meaningless = rows.filter((row) => row.endsWith("|  |") && !/`(?:will|options)/.test(row));
    expect(meaningless).toEqual([]);
    expect(rows.length).toBeGreaterThan(100);
  });

  it("keeps words of plugins from becoming markup", () => {
    expect(page).toContain("| The path. Default: /ingest/&lt;receiver id> \\| `<none>`. |");
  });

  it("of a bridge without plugins has the document only", () => {
    expect(configReference(createRegistry({}))).not.toContain("## Transport");
  });
});
