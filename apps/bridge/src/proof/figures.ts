/** The last line of `--json`. Each figure is counted, in the ledger or by the hub. */
export interface Figures {
  readonly handoffs: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly dead_lettered: number;
  readonly replayed: number;
  readonly refused: number;
  readonly violations: number;
  readonly ledger_entries: number;
  readonly ledger_ok: boolean;
  readonly seconds: number;
}
