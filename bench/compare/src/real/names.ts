/** Nobody may publish to these. */
export const REFUSED_TOPICS = "refused/#";
export const TAKEN = "out";
export const REFUSED = "refused";

/** Everything of one scenario has its run in its name, so that nothing of another is taken for its own. */
export interface Names {
  readonly run: string;
}

/** Topic of MQTT, and queue of AMQP. */
export const sourceOf = ({ run }: Names): string => `in.${run}`;
/** The header that says for each target whether it takes the message. */
export const headerOf = (index: number): string => `lane${index}`;
export const topicOf = ({ run }: Names, index: number, lane: string): string => `${lane}/${run}/${index}`;
export const queueOf = ({ run }: Names, index: number, lane: string): string => `${lane}.${run}.${index}`;
export const pathOf = ({ run }: Names, index: number): string => `/${run}/${index}`;

export function payloadOf({ run }: Names, number: number): Buffer {
  return Buffer.from(`${run}:${number}`);
}

/** `undefined` when it is none of this run. */
export function numberIn({ run }: Names, payload: Uint8Array): number | undefined {
  const [of, number] = Buffer.from(payload).toString("latin1").split(":");
  return of === run ? Number(number) : undefined;
}
