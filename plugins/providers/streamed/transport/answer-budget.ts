/** Bytes of all answers that are under way: an answer has a limit of its own, and many at once need one together. */

/** One answer in the budget. */
export interface AnswerShare {
  /** Says how many bytes have come so far. True if that is too much together and no other answer has more. */
  holds(bytes: number): boolean
  close(): void
}

export interface AnswerBudget {
  open(): AnswerShare
}

export const createAnswerBudget = (most: number): AnswerBudget => {
  const held = new Map<AnswerShare, number>()
  let total = 0
  const open = (): AnswerShare => {
    const share: AnswerShare = {
      holds(bytes) {
        total += bytes - (held.get(share) ?? 0)
        held.set(share, bytes)
        return total > most && [...held.values()].every((other) => other <= bytes)
      },
      close() {
        total -= held.get(share) ?? 0
        held.delete(share)
      },
    }
    return share
  }
  return { open }
}
