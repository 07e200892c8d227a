import { type Ports, USUAL_PORTS } from "./ports.ts";

/** What a quickstart is called at its broker. One on other ports has names of its own: two at one broker do not meet. */
export interface Names {
  /** What its topics begin with. */
  readonly root: string;
  readonly clientId: string;
}

/** As examples/quickstart.yaml has them. */
export const USUAL_NAMES: Names = { root: "quickstart", clientId: "bridge-quickstart" };

export function namesFor({ admin }: Ports): Names {
  if (admin === USUAL_PORTS.admin) return USUAL_NAMES;
  return { root: `${USUAL_NAMES.root}-${admin}`, clientId: `${USUAL_NAMES.clientId}-${admin}` };
}
