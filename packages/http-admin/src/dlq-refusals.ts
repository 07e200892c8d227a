/** What every endpoint that looks into the DLQ may refuse with. */
export const DLQ_REFUSALS = {
  404: "There is no DLQ store.",
  503: "The DLQ store is not open, or cannot be used.",
} as const;

/** What every endpoint may refuse with that asks for what not every store can do. */
export const DLQ_PART_REFUSALS = {
  404: "There is no DLQ store, or it cannot do that.",
  503: "The DLQ store is not open, or cannot be used.",
} as const;

/** What every endpoint that changes the DLQ may refuse with. */
export const DLQ_ADMIN_REFUSALS = {
  404: "There is no DLQ store, or it cannot delete.",
  503: "The DLQ store is not open, or cannot be used; the error says whether anything may be changed.",
} as const;
