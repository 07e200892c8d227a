/** The least that a loop between a source and a target can do: pull, send, acknowledge, within a window. @module */
import { answer, ready } from "../harness/answer.ts";
import { MicrotaskSender, TurnSender } from "../engine/accepting-sender.ts";
import { engineJob } from "../engine/engine-job.ts";
import { OnDemandReceiver } from "../engine/on-demand-receiver.ts";
import { sampleMessage } from "../engine/sample-message.ts";

const { window, size, accept } = engineJob();
const source = new OnDemandReceiver(sampleMessage(size));
const target = accept === "microtask" ? new MicrotaskSender() : new TurnSender();

let inFlight = 0;
let pulls = 0;
let onRoom: (() => void) | undefined;

async function loop(): Promise<void> {
  for await (const delivery of source.receive(new AbortController().signal)) {
    inFlight++;
    void target.send().then(() => {
      void delivery.settle({ kind: "accept", outcome: "delivered", envelopeId: "" });
      inFlight--;
      onRoom?.();
    });
    if (inFlight === window) await new Promise<void>((resolve) => (onRoom = resolve));
    // Without this the answer to the harness would never be heard.
    if (++pulls % 256 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

void loop();
answer("run", (messages: number) => source.run(messages));
ready();
