import { inspect } from "node:util";
import { quotes } from "@bridge/config";
import { BridgeError } from "@bridge/ports";

/** A send's error. If it quotes the address, which must stay hidden, only its code remains. */
export function withoutAddress(thrown: unknown, address: string): unknown {
  if (!quotes(inspect(thrown), address)) return thrown;
  const { code, retryAfterMs, charged } = BridgeError.from(thrown);
  return new BridgeError(code, "the error quotes an address that came in through a reference", {
    retryAfterMs,
    charged,
  });
}
