import { PORT } from "@bridge/ports/options";
import * as v from "valibot";

const ADDRESS = new RegExp(
  `^(?:\\[([0-9A-Fa-f:.]+(?:%[\\w.-]+)?)\\]|([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?))?:${PORT}$`,
);

/** Where a server listens: `:8080` for all interfaces, `127.0.0.1:8080`, `[::1]:8080`. Port 0 is any free one. */
export function listenAddress() {
  return v.pipe(
    v.string("expected a string"),
    v.metadata({ pattern: ADDRESS.source }),
    v.check(isAddress, 'not an address: write ":8080", "127.0.0.1:8080" or "[::1]:8080", with a port up to 65535'),
  );
}

function isAddress(text: string): boolean {
  const match = ADDRESS.exec(text);
  if (match === null) return false;
  const [, ipv6, host = ""] = match;
  if (ipv6 !== undefined) return URL.canParse(`http://[${ipv6.replace(/%.*/, "")}]`);
  return host === "" || URL.canParse(`http://${host}`);
}
