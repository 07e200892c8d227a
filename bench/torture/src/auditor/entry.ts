/** What the auditor knows of one message, from its own acts and from what it saw on the wire. */
export class Entry {
  /** How often the auditor has offered it: requests, repeats included; 1 over MQTT, where the client repeats. */
  offers = 0;
  /** Its source has it: the broker has acknowledged it, or the bridge has answered 202. */
  accepted = false;
  /** How often the source's broker, or a caller, has handed it to the bridge. */
  handed = 0;
  /** How often the bridge has settled it: its acknowledgement has reached the broker, or it has answered 202. */
  settled = 0;
  /** Sends to the target, and those among them whose confirmation may not have reached the bridge. */
  sends = 0;
  doubtful = 0;
  /** How often it is at its target. */
  arrived = 0;
  /** Which arrival its first one was, of all that the auditor has seen; 0: it has not arrived. */
  firstArrival = 0;
  /** Milliseconds since the beginning, for whoever has to find out what went wrong; -1: never. */
  offeredAt = -1;
  acceptedAt = -1;
  firstHandedAt = -1;
  handedAt = -1;
  /** When it was handed over last before its first arrival. */
  handedToArriveAt = -1;
  settledAt = -1;
  sentAt = -1;
  arrivedAt = -1;
}
