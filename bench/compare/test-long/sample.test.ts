/** A few scenarios of the comparison, with real brokers and stores. @module */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const PROGRAM = fileURLToPath(new URL("../src/main.ts", import.meta.url));

test("four scenarios end in the models as with Mosquitto, RabbitMQ, SQLite and PostgreSQL", async () => {
  const flags = ["--conditions=@bridge/source", PROGRAM, "--seed", "sample", "--scenarios", "4"];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  expect(stdout).toContain("0 of them differ");
});
