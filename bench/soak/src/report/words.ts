export function percent(fraction: number): string {
  return `${fraction < 0 ? "" : "+"}${(100 * fraction).toFixed(1)} %`;
}

export function mib(amount: number): string {
  return `${amount.toFixed(0)} MiB`;
}
