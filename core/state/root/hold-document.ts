/** The document that keeps a daemon from beginning anything by itself, until it is released. */
export const holdDocument = 'hold'

export type HoldReason = 'restored' | 'asked'
export type StoredHold = {
  readonly held: boolean
  readonly reason: HoldReason
  /** Unix ms. */
  readonly since_ms: number
}
