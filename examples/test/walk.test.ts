import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { freePorts } from "@bridge/tooling/listening";
import { expect, test } from "vitest";
import { noMqtt5, openBroker } from "./support/broker.ts";
import { Console, consoleSteps } from "./support/console.ts";
import { BINARY, ownEnvironment } from "./support/example.ts";
import { EXAMPLES } from "./support/program.ts";
import { noRabbit, openRabbit } from "./support/rabbit.ts";

const WALK = fileURLToPath(new URL("../../docs/walk.md", import.meta.url));

test.skipIf(noRabbit || noMqtt5)(
  "docs/walk.md: each command prints what the page says",
  { timeout: 180_000 },
  async () => {
    await using broker = await openBroker();
    const { TOPICS: own } = ownEnvironment({});
    await using _ = await openRabbit(own);
    await using folder = await mkdtempDisposable(join(tmpdir(), "bridge-walk-"));
    const [admin, monitor] = await freePorts(2);
    // Others use the same brokers and ports, so this walk has names of its own.
    const here = (text: string) =>
      text
        .replaceAll("127.0.0.1:8081", `127.0.0.1:${admin}`)
        .replaceAll("127.0.0.1:8080", `127.0.0.1:${monitor}`)
        .replaceAll("plant/", `${own}/`)
        .replaceAll("-q readings", `-q ${own}`)
        .replaceAll(/address: readings|client_id: readings/g, (option) => option.replace("readings", own))
        .replaceAll(/^readings$/gm, own);
    writeFileSync(join(folder.path, "bridge.yaml"), here(readFileSync(`${EXAMPLES}readings.yaml`, "utf8")));
    // As npm would install it.
    mkdirSync(join(folder.path, "node_modules/.bin"), { recursive: true });
    symlinkSync(BINARY, join(folder.path, "node_modules/.bin/bridge"));
    chmodSync(BINARY, 0o755);

    const path = `${dirname(execPath)}:${env["PATH"]}`;
    await using shell = new Console(folder.path, { HOME: folder.path, PATH: path });
    const steps = consoleSteps(here(readFileSync(WALK, "utf8")));
    expect(steps.length).toBeGreaterThan(20);
    for (const step of steps) expect([step.command, await shell.type(step)]).toEqual([step.command, step.prints]);
    await broker.forget(own);
  },
);
