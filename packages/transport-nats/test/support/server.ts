/**
 * The server of the tests: the NATS server that stands ready on loopback, with JetStream. Where there is none, what
 * needs it is skipped and counted, unless BRIDGE_REQUIRE_BROKERS=1 makes its absence a failure. @module
 */
import { once } from "node:events";
import { connect } from "node:net";
import { env } from "node:process";

export const PORT = 4222;

/** For `describe.skipIf`: whether there is no server. */
export const noServer = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && !(await listens());

async function listens(): Promise<boolean> {
  const socket = connect({ port: PORT, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
