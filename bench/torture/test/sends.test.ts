import { expect, test } from "vitest";
import { Doubt } from "../src/auditor/doubt.ts";
import { Ledger } from "../src/auditor/ledger.ts";
import { Sends } from "../src/auditor/sends.ts";
import { SEND_TIMEOUT_MS } from "../src/bridge/document.ts";

test("a confirmation that comes when the bridge may have given the send up leaves it in doubt; one in time does not", () => {
  let now = 0;
  const ledger = new Ledger(["nats-amqp"], 0);
  const ids = [ledger.open("nats-amqp").id, ledger.open("nats-amqp").id] as const;
  const memory = { outlivesKills: true, doubt: new Doubt(() => now) };
  const sends = new Sends(
    ledger,
    () => memory,
    () => now,
  );
  sends.begin(1, ids[0]);
  sends.begin(2, ids[1]);
  now = SEND_TIMEOUT_MS - 2_000;
  sends.end(1, true);
  now = SEND_TIMEOUT_MS - 500;
  sends.end(2, true);
  expect(ids.map((id) => ledger.find(id)?.doubtful)).toEqual([0, 1]);
});
