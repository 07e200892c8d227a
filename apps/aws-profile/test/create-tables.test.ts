import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Site } from "./support/site.ts";
import { CONFIG_TABLE, type Tables, tablesFor } from "./support/tables.ts";

let site: Site;
let tables: Tables;
beforeAll(async () => {
  site = await Site.open();
  tables = await tablesFor(site);
});
afterAll(async () => {
  await tables[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const shared = (bridgeId: string) =>
  site.bootstrap({ bridge_id: bridgeId, config_source: "dynamodb", config_file_path: "", config_table: CONFIG_TABLE });

const stores = (prefix: string) => ({
  dlq: { type: "dynamodb", options: { table_name: `${prefix}-dlq` } },
  outbox: { type: "dynamodb", options: { table_name: `${prefix}-outbox` } },
  lease: { type: "dynamodb", options: { table_name: `${prefix}-leases` } },
});

async function ran(bootstrap: Readonly<Record<string, unknown>>, flag = "-create-tables") {
  await using process = site.run(bootstrap, [flag]);
  return { code: await process.ended, lines: process.stdout.split("\n").slice(0, -1), stderr: process.stderr };
}

describe("contract 7: -create-tables", () => {
  test("makes the configuration's table first, then those of its stores, and is idempotent", async () => {
    const first = await ran(shared("plant-7"));
    expect(first).toMatchObject({ code: 0, lines: [`${CONFIG_TABLE}: made`] });
    expect(first.stderr).toBe(
      `dynamodb:${CONFIG_TABLE}/plant-7: there is no configuration there: the tables of its stores are not made\n`,
    );
    await tables.putConfig("plant-7", { bridge: { id: "plant-7" }, stores: stores("plant-7") });
    const second = await ran(shared("plant-7"));
    const lines = (did: string) => [
      `${CONFIG_TABLE}: was there`,
      `plant-7-dlq: ${did}, items do not expire here`,
      `plant-7-outbox: ${did}, items do not expire here`,
      `plant-7-leases: ${did}`,
    ];
    expect(second).toEqual({ code: 0, lines: lines("made"), stderr: "" });
    const third = await ran(shared("plant-7"));
    expect(third).toEqual({ code: 0, lines: lines("was there"), stderr: "" });
  });

  test("makes the one that is gone, and leaves the others as they are", async () => {
    site.write("gone.yaml", `bridge: {id: test}\nstores: ${JSON.stringify(stores("gone"))}\n`);
    const bootstrap = site.bootstrap({ config_file_path: "gone.yaml" });
    expect((await ran(bootstrap)).code).toBe(0);
    await tables.drop("gone-outbox");
    expect(await ran(bootstrap)).toEqual({
      code: 0,
      lines: [
        "gone-dlq: was there, items do not expire here",
        "gone-outbox: made, items do not expire here",
        "gone-leases: was there",
      ],
      stderr: "",
    });
  });

  test("goes by a configuration in a file as well, and by one that names none", async () => {
    site.write("tables.yaml", `bridge: {id: test}\nstores: ${JSON.stringify(stores("of-a-file"))}\n`);
    expect(await ran(site.bootstrap({ config_file_path: "tables.yaml" }))).toMatchObject({
      code: 0,
      lines: [
        "of-a-file-dlq: made, items do not expire here",
        "of-a-file-outbox: made, items do not expire here",
        "of-a-file-leases: made",
      ],
    });
    site.write("none.yaml", "bridge: {id: test}\n");
    expect(await ran(site.bootstrap({ config_file_path: "none.yaml" }))).toMatchObject({
      code: 0,
      lines: ["the configuration names no tables"],
    });
  });

  test("1: a table of another form is not touched, the differences are named, and the others are made", async () => {
    await tables.makeForeign("foreign-dlq");
    site.write("foreign.yaml", `bridge: {id: test}\nstores: ${JSON.stringify(stores("foreign"))}\n`);
    expect(await ran(site.bootstrap({ config_file_path: "foreign.yaml" }))).toMatchObject({
      code: 1,
      lines: ["foreign-outbox: made, items do not expire here", "foreign-leases: made"],
      stderr: expect.stringContaining("table foreign-dlq: its key is theirs (S) instead of ") as string,
    });
  });

  test("1: a configuration that is not valid, or names of tables that are none", async () => {
    site.write("wrong.yaml", "bridge: {id: test}\nstores: {lease: {type: dynamodb, options: {table_name: a}}}\n");
    expect(await ran(site.bootstrap({ config_file_path: "wrong.yaml" }))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/wrong\.yaml:2:\d+ stores\.lease\.options\.table_name: /) as string,
    });
  });

  test("1: without a region it says what to set", async () => {
    site.write("tables.yaml", `bridge: {id: test}\nstores: ${JSON.stringify(stores("nowhere"))}\n`);
    const bootstrap = JSON.stringify(site.bootstrap({ config_file_path: "tables.yaml" }));
    await using process = site.runIn({ BRIDGE_BOOTSTRAP_JSON: bootstrap, AWS_REGION: "" }, ["-create-tables"]);
    expect(await process.ended).toBe(1);
    expect(process.stderr).toContain("AWS_REGION");
  });
});
