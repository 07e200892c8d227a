/** Of the route, in the models and in reality. */
export const POLICY = {
  send_timeout: "5s",
  backoff: { initial_interval: "100ms", max_interval: "1s" },
} as const;
