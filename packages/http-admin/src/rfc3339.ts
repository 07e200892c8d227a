const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:[Zz]|([+\- ])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Epoch milliseconds of an RFC 3339 timestamp, rounded up: entries are stamped in whole milliseconds, so that nothing
 * of them lies between the two. `undefined` when it is none. A blank before the offset is the `+` that a client forgot
 * to escape in a query.
 */
export function parseRfc3339(text: string): number | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHour = 0, offsetMinute = 0] = match;
  // oxlint-disable-next-line no-restricted-globals -- of a time that is given
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === "-" ? -1 : 1);
  date.setUTCHours(Number(hour), Number(minute) - offset, Number(second));
  return date.getTime() + Math.ceil(Number(`0.${fraction}`) * 1_000);
}
