import { once } from "node:events";
import { connect, type NetConnectOpts } from "node:net";

/** Whether somebody takes connections there. */
export async function listens(at: NetConnectOpts): Promise<boolean> {
  const socket = connect(at);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
